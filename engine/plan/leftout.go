package plan

import (
	"encoding/json"
	"fmt"
)

// LeftOut is a path that a snapshot could not take in.
type LeftOut struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// LeftOutList is what the snapshots of a run left out. It is stored as JSON.
type LeftOutList []LeftOut

// Scan reads the stored form.
func (l *LeftOutList) Scan(v any) error {
	text, ok := v.(string)
	if !ok {
		return fmt.Errorf("a list of left out paths is no %T", v)
	}
	*l = nil
	if text == "" || text == "[]" {
		return nil
	}
	return json.Unmarshal([]byte(text), l)
}
