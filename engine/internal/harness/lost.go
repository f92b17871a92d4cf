package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/clearbox-go/clearbox/plugin"
)

var (
	// ErrDetached is what sessions return after [Manager.Detach]: the harness goes
	// on, this server does not follow it any more.
	ErrDetached = errors.New("this server let go of its harnesses")

	// ErrNotStarted is returned by [Manager.Reattach] when the process was there
	// but never got its task. It has been ended; the run can be queued again.
	ErrNotStarted = errors.New("the harness never got its task")
)

// Lost means that a harness is gone before its run had a result. It is a
// [plugin.ErrLost].
type Lost struct {
	Exit   string // in words, e.g. "exited with code 3", "killed by signal 9"
	Stderr string // the last 64 KiB of what it printed beside the protocol; valid UTF-8
}

func (l *Lost) Error() string { return "the harness is gone: " + l.Exit }

// Unwrap makes errors.Is(err, plugin.ErrLost) true.
func (l *Lost) Unwrap() error { return plugin.ErrLost }

// Why a supervisor ended its harness.
const (
	causeStopped  = "stopped"  // a server or a signal asked
	causeOrphaned = "orphaned" // no server came back
)

// exitRecord is what a supervisor leaves behind, as exit.json.
type exitRecord struct {
	Code   int       `json:"code"` // -1 when it did not exit by itself
	Signal int       `json:"signal,omitempty"`
	At     time.Time `json:"at"`
	Cause  string    `json:"cause,omitempty"`
	Error  string    `json:"error,omitempty"` // why it could not be started, or not be killed
	Stderr string    `json:"stderr_tail"`
}

// words says how a harness ended.
func (e exitRecord) words() string {
	var s string
	switch {
	case e.Error != "":
		s = e.Error
	case e.Signal != 0:
		s = fmt.Sprintf("killed by signal %d", e.Signal)
	default:
		s = fmt.Sprintf("exited with code %d", e.Code)
	}
	if e.Cause == causeOrphaned {
		s += ", because no server came back to it in time"
	}
	return s
}

// readExit returns what is known of an end whose supervisor is gone.
func (f folder) readExit() exitRecord {
	var e exitRecord
	if b, err := os.ReadFile(f.exitFile()); err == nil && json.Unmarshal(b, &e) == nil {
		return e
	}
	b, _ := os.ReadFile(f.outputFile())
	return exitRecord{
		Code: -1, Stderr: cleanText(b),
		Error: "vanished without a trace: its supervisor was killed, or the machine was restarted",
	}
}

// lost tells the server's callers of an end.
func (e exitRecord) lost() *Lost { return &Lost{Exit: e.words(), Stderr: e.Stderr} }

// cleanText makes valid UTF-8 without NUL of what a program printed.
func cleanText(b []byte) string {
	return strings.ToValidUTF8(strings.ReplaceAll(string(b), "\x00", ""), "\uFFFD")
}
