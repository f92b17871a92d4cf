package harness

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// living counts the processes, zombies not, that have word in their command
// line.
func living(t testing.TB, word string) int {
	t.Helper()
	n := 0
	for _, s := range processes() {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", s.pid))
		if err == nil && !s.dead && s.pid != os.Getpid() && strings.Contains(string(b), word) {
			n++
		}
	}
	return n
}
