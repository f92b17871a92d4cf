package main

import (
	"fmt"
	"strings"

	"github.com/clearbox-go/clearbox/internal/scriptedmodel"
)

// turn is a reply as a list of blocks, each a text, a piece of thinking or a call.
type turn struct {
	Blocks []map[string]any `json:"blocks"`
}

// blocks converts scripts into lists of blocks by name. What such a list cannot say
// is an error, except for expectations, which are left out.
func blocks(scripts []scriptedmodel.Script) (map[string][]turn, error) {
	out := map[string][]turn{}
	for _, s := range scripts {
		for i, t := range s.Turns {
			b, err := convert(t)
			if err != nil {
				return nil, fmt.Errorf("script %s, turn %d: %w", s.Name, i+1, err)
			}
			out[s.Name] = append(out[s.Name], b)
		}
	}
	return out, nil
}

func convert(t scriptedmodel.Turn) (turn, error) {
	b := turn{Blocks: []map[string]any{}}
	if t.Status != 0 || t.Body != "" || t.CutAfter != nil || t.Chunks != nil || t.Refusal != "" || t.Finish != "" {
		return b, fmt.Errorf("it is no plain reply")
	}
	if strings.Contains(t.Text, "{{") {
		return b, fmt.Errorf("its text is a template")
	}
	if t.Thinking != "" {
		b.Blocks = append(b.Blocks, map[string]any{"reasoning": t.Thinking})
	}
	if t.Text != "" {
		b.Blocks = append(b.Blocks, map[string]any{"text": t.Text})
	}
	for _, c := range t.Calls {
		switch args := c.Args; {
		case c.Raw != "":
			b.Blocks = append(b.Blocks, map[string]any{"tool": c.Name, "raw": c.Raw})
		case args == nil:
			b.Blocks = append(b.Blocks, map[string]any{"tool": c.Name, "input": map[string]any{}})
		default:
			b.Blocks = append(b.Blocks, map[string]any{"tool": c.Name, "input": args})
		}
	}
	return b, nil
}
