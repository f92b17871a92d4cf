// Command clearbox is the server and its command line. It wires the engine to
// its doors, talks to a server that runs, and decides nothing.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/handlers/planfile"
)

// version is the version of this build.
const version = "0.1.0"

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run executes one command and returns its exit code: 0 fine, 1 it did not work,
// 2 it was called wrongly; commands with further codes say so in their help.
func run(args []string, in io.Reader, out, errOut io.Writer) int {
	if code, ok := engine.Role(args); ok {
		return code
	}
	s := &streams{in: in, out: out, err: errOut}
	return s.report(dispatch(s, args))
}

// dispatch finds the command that args name and runs it. Without a name it is
// serve.
func dispatch(s *streams, args []string) error {
	table := commands()
	if len(args) > 0 && wantsHelp(args[0]) {
		fmt.Fprint(s.out, overview(table))
		return nil
	}
	if len(args) == 0 || args[0] == "" || args[0][0] == '-' && args[0] != "--version" {
		args = append([]string{"serve"}, args...)
	}
	return choose(context.Background(), s, choice{table: table, path: "clearbox"}, args)
}

func wantsHelp(arg string) bool { return arg == "-h" || arg == "-help" || arg == "--help" }

// report says what went wrong, in one line, and turns it into an exit code.
func (s *streams) report(err error) int {
	var code exitCode
	var wrong usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	}
	for _, line := range faultLines(err) {
		fmt.Fprintln(s.err, "clearbox:", line)
	}
	kind := plan.KindOf(err)
	if errors.As(err, &wrong) || kind == plan.Invalid || kind == plan.Malformed {
		return 2
	}
	return 1
}

// faultLines returns the lines of an error: one, unless it lists faults that
// each say where they are.
func faultLines(err error) []string {
	var many planfile.Faults
	if errors.As(err, &many) {
		return many
	}
	return []string{oneLine(err)}
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// exitCode ends the program with a code after everything was said.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// usageError is the error of a command that was called wrongly.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func wrongUse(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }
