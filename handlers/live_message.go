package handlers

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/clearbox-go/clearbox/views"
)

// frame is one change of a page. Without HTML the element goes.
type frame struct {
	ID     string `json:"i"`
	HTML   string `json:"h,omitempty"`
	Parent string `json:"p,omitempty"`
	Flags  string `json:"k,omitempty"` // s: part of a drawing, f: first in its parent, o: never changes
}

// drawn renders a piece.
func drawn(ctx context.Context, p views.Piece) (frame, error) {
	var b bytes.Buffer
	if err := p.Body.Render(ctx, &b); err != nil {
		return frame{}, err
	}
	f := frame{ID: p.ID, HTML: b.String(), Parent: p.In}
	for _, flag := range []struct {
		on     bool
		letter string
	}{{p.SVG, "s"}, {p.First, "f"}, {p.Once, "o"}} {
		if flag.on {
			f.Flags += flag.letter
		}
	}
	return f, nil
}

// liveMessage says what has changed of a topic: frames, or that the page has to
// read that part anew. A page that is up to date with State needs nothing of it;
// one that has applied it goes on after Seq.
type liveMessage struct {
	Topic  string  `json:"t"`
	Seq    int64   `json:"s"`
	State  int64   `json:"v"`
	Frames []frame `json:"f,omitempty"`
	Resync int     `json:"r,omitempty"`
}

func resyncMessage(t topic, seq int64) []byte {
	b, _ := encodeMessage(liveMessage{Topic: t.String(), Seq: seq, State: seq, Resync: 1}) // it always encodes
	return b
}

// encodeMessage writes a message of server-sent events: JSON has no line ends.
func encodeMessage(m liveMessage) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("data: ")
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(m); err != nil {
		return nil, err
	}
	b.WriteByte('\n') // the encoder wrote one already
	return b.Bytes(), nil
}
