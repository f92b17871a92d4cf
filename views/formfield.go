package views

import (
	"fmt"
	"strings"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// Kinds of a formField.
const (
	fieldLine   = "line"   // one line of words
	fieldNumber = "number" // one line; what it holds is checked by the server, which keeps what was typed
	fieldArea   = "area"   // several lines
	fieldCode   = "code"   // several lines, for JSON and lists
	fieldChoice = "choice"
)

// formField is a field of a form, with help and a place for what is wrong.
type formField struct {
	Name, Label, Kind        string
	Value, Placeholder, Help string
	Fault                    string
	Rows                     string
	Options                  []choice
	List                     string // id of what is suggested
	Required                 bool
}

// choice is one of several values.
type choice struct{ Value, Label string }

// FieldID is the id of a form's field by its name.
func FieldID(name string) string {
	var b strings.Builder
	b.WriteString("f-")
	for _, r := range name {
		switch {
		case r == '.':
			b.WriteByte('-')
		case r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "-%x", r)
		}
	}
	return b.String()
}

func (f *formField) id() string       { return FieldID(f.Name) }
func (f *formField) helpID() string   { return f.id() + "-help" }
func (f *formField) errorID() string  { return f.id() + "-error" }
func (f *formField) describe() string { return f.helpID() + " " + f.errorID() }
func (f *formField) inputMode() string {
	return map[bool]string{true: "decimal", false: "text"}[f.Kind == fieldNumber]
}

// settingField makes a field for a setting of a harness.
func settingField(s *plan.Setting, value string) formField {
	f := formField{Name: "params." + s.Name, Label: s.Title, Help: sentences(s.Help, s.Range()), Value: value, Required: s.Required, Kind: fieldLine}
	if s.Default != nil {
		f.Placeholder = s.Text(s.Default)
	}
	switch {
	case s.Enum != nil:
		f.Kind, f.Options = fieldChoice, enumChoices(s, value)
	case s.Type == plan.SettingBoolean:
		f.Kind, f.Options = fieldChoice, withValue([]choice{{"", unsetWord(s)}, {"true", "Yes"}, {"false", "No"}}, value)
	case s.Type == plan.SettingNumber || s.Type == plan.SettingInteger:
		f.Kind = fieldNumber
	case s.Type == plan.SettingTexts:
		f.Kind, f.Rows, f.Help = fieldCode, "3", sentences(f.Help, "One a line.")
	case s.Type == plan.SettingObject:
		f.Kind, f.Rows, f.Help = fieldCode, "4", sentences(f.Help, "A JSON object.")
	case s.Type == plan.SettingAny:
		f.Kind, f.Rows, f.Help = fieldCode, "2", sentences(f.Help, "In JSON.")
	case s.Long:
		f.Kind, f.Rows = fieldArea, "6"
	}
	return f
}

// unsetWord says what holds when a choice is left open.
func unsetWord(s *plan.Setting) string {
	switch text := s.Text(s.Default); {
	case text == "":
		return "Not set"
	case text == "true":
		return "Default: yes"
	case text == "false":
		return "Default: no"
	default:
		return "Default: " + text
	}
}

func enumChoices(s *plan.Setting, value string) []choice {
	list := []choice{{"", unsetWord(s)}}
	for _, e := range s.Enum {
		if text := s.Text(e); text != "" {
			list = append(list, choice{text, text})
		}
	}
	return withValue(list, value)
}

// withValue keeps a value that is none of the choices, so that looking at a form
// and saving it does not lose it: it is refused instead.
func withValue(list []choice, value string) []choice {
	for _, c := range list {
		if c.Value == value {
			return list
		}
	}
	return append(list, choice{value, value + " (not one of them)"})
}

// sentences puts texts into one line, without those that are empty.
func sentences(parts ...string) string {
	var list []string
	for _, p := range parts {
		if p != "" {
			list = append(list, p)
		}
	}
	return strings.Join(list, " ")
}
