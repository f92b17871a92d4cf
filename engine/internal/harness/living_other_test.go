//go:build unix && !linux

package harness

import (
	"os/exec"
	"strings"
	"testing"
)

// living counts the processes, zombies not, that have word in their command
// line.
func living(t testing.TB, word string) int {
	t.Helper()
	out, err := exec.Command("ps", "-axww", "-o", "stat=", "-o", "command=").Output()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, word) && !strings.HasPrefix(line, "Z") {
			n++
		}
	}
	return n
}
