package leftover_test

import (
	"io"
	"os/exec"
	"testing"

	"github.com/clearbox-go/clearbox/plugin/toolkit/leftover"
)

// start starts a program in a session of its own that ends with its input.
func start(t *testing.T, mark string) (*exec.Cmd, io.Closer) {
	t.Helper()
	cmd := exec.Command("setsid", "--wait", "cat")
	cmd.Env = append(cmd.Environ(), mark)
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return cmd, in
}

func TestOnlyWhatHasTheMarkIsKilled(t *testing.T) {
	mine, _ := start(t, "LEFTOVER_TEST=1"+t.Name())
	other, in := start(t, "LEFTOVER_TEST=2"+t.Name())
	leftover.Kill("LEFTOVER_TEST=1" + t.Name())
	if err := mine.Wait(); err == nil {
		t.Error("it ended well")
	}
	in.Close()
	if err := other.Wait(); err != nil {
		t.Errorf("another one was ended, too: %v", err)
	}
}
