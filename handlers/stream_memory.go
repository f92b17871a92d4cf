package handlers

import (
	"bytes"
	"sync/atomic"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// sentEvents keeps the newest events as they are sent. All readers of streams get
// the same, so that each is encoded once and not once for everyone.
type sentEvents struct {
	slots [2048]atomic.Pointer[sentEvent]
}

type sentEvent struct {
	seq  int64
	text []byte
}

// keptEvent is the longest event that is kept: few are longer, and those would
// take much memory.
const keptEvent = 2 << 10

// append appends the message about a change.
func (m *sentEvents) append(b []byte, c *plan.Change) []byte {
	if c.Kind != plan.ChangeEvent {
		return encodeChange(b, c)
	}
	slot := &m.slots[uint64(c.Seq)%uint64(len(m.slots))]
	if kept := slot.Load(); kept != nil && kept.seq == c.Seq {
		return append(b, kept.text...)
	}
	start := len(b)
	b = encodeChange(b, c)
	if len(b)-start <= keptEvent {
		slot.Store(&sentEvent{c.Seq, bytes.Clone(b[start:])})
	}
	return b
}
