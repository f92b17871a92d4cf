package harness

// procID names one process for good: numbers alone are used again.
type procID struct {
	Pid   int   `json:"pid"`
	Start int64 `json:"start"` // units of the system's own; 0 when it does not tell
}

func identify(pid int) procID {
	start, _ := startTime(pid)
	return procID{pid, start}
}

// alive says that exactly this process lives. It is false when that cannot be
// told.
func (p procID) alive() bool {
	start, ok := startTime(p.Pid)
	return ok && p.Start != 0 && start == p.Start
}
