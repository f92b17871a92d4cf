// Command clearbox is the server and its command line. It wires the engine to
// its doors and decides nothing.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/clearbox-go/clearbox/engine"
)

// version is the version of this build.
const version = "0.1.0"

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

const usage = `Clearbox runs plans of coding-agent work and shows them live in a browser.

usage: clearbox [serve] [flags]   start the server; without flags: http://127.0.0.1:8765
       clearbox version           print the version
       clearbox help              print this; "clearbox serve --help" lists the flags
`

// run executes one command and returns its exit code: 0 fine, 1 it did not work,
// 2 it was called wrongly.
func run(args []string, out, errOut io.Writer) int {
	if code, ok := engine.Role(args); ok {
		return code
	}
	command := "serve"
	if len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		command, args = args[0], args[1:]
	}
	switch command {
	case "serve":
		return serve(args, out, errOut)
	case "version":
		fmt.Fprintln(out, "clearbox", version)
		return 0
	case "help":
		fmt.Fprint(out, usage)
		return 0
	}
	fmt.Fprintf(errOut, "clearbox: unknown command %q; try \"clearbox help\"\n", command)
	return 2
}
