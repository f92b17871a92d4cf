package engine

import "github.com/clearbox-go/clearbox/engine/internal/harness"

// roleSupervise is the hidden command under which this binary watches over one
// harness process.
const roleSupervise = "__supervise"

// Role plays a hidden role of the binary when args ask for one, and returns its
// exit code. The roles are for the engine itself: each is a process of its own
// beside the server.
func Role(args []string) (code int, ok bool) {
	if len(args) == 0 || args[0] != roleSupervise {
		return 0, false
	}
	return harness.Supervise(args[1:]), true
}

// Supervisor returns the command line by which a binary at path, which calls
// Role first, plays the role of the supervisor.
func Supervisor(path string) []string { return []string{path, roleSupervise} }
