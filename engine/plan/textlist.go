package plan

import (
	"encoding/json"
	"fmt"
)

// TextList is a list of texts that is stored as JSON.
type TextList []string

// Scan reads the stored form.
func (l *TextList) Scan(v any) error {
	text, ok := v.(string)
	if !ok {
		return fmt.Errorf("a list of texts is no %T", v)
	}
	*l = nil
	if text == "" || text == "[]" {
		return nil
	}
	return json.Unmarshal([]byte(text), l)
}
