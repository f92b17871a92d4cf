package main

import (
	"testing"
)

// What left the process group ends with the run, too.
func TestNothingIsLeftBehind(t *testing.T) {
	mark := t.TempDir()
	t.Setenv(stopMark, mark)
	p := replayed(t, "orphan", scene{})
	if p.result.IsError {
		t.Fatalf("result %+v", p.result)
	}
	if left := survivors(mark); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
