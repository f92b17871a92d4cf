package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Types of a [Setting]. Anything else that a schema describes is SettingAny.
const (
	SettingText    = "string"
	SettingInteger = "integer"
	SettingNumber  = "number"
	SettingBoolean = "boolean"
	SettingTexts   = "strings" // a list of texts
	SettingObject  = "object"
	SettingAny     = ""
)

// Setting is one setting of a harness, as the schema of its params describes it.
type Setting struct {
	Name, Title, Help string
	Type              string
	Long              bool              // a text of several lines
	Default           json.RawMessage   // nil: none
	Enum              []json.RawMessage // nil: any value of its type
	Min, Max          *float64          // nil: no bound
	Above, Below      *float64          // the same, without the bound itself
	Required          bool
}

// Text writes a value as people edit it: words as they are, a list as lines,
// everything else as JSON. A value of another type than the setting's is JSON,
// too, so that nothing is lost by looking at it.
func (s *Setting) Text(value json.RawMessage) string {
	value = bytes.TrimSpace(value)
	if len(value) == 0 || string(value) == "null" {
		return ""
	}
	var word string
	var words []string
	switch {
	case s.Type == SettingText && json.Unmarshal(value, &word) == nil:
		return word
	case s.Type == SettingTexts && json.Unmarshal(value, &words) == nil:
		return strings.Join(words, "\n")
	case s.Type == SettingObject || s.Type == SettingAny:
		var b bytes.Buffer
		if json.Indent(&b, value, "", "  ") == nil {
			return b.String()
		}
	}
	return string(value)
}

// Parse reads what people wrote. Nothing at all is no value; fault says what is
// wrong with it.
func (s *Setting) Parse(text string) (value json.RawMessage, fault string) {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" {
		return nil, ""
	}
	switch s.Type {
	case SettingText:
		if !s.Long {
			text = trimmed
		}
		value = encoded(text)
	case SettingTexts:
		value = encoded(Lines(text))
	case SettingNumber, SettingInteger:
		f, err := strconv.ParseFloat(strings.Replace(trimmed, ",", ".", 1), 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, "must be a " + s.typeWords()
		}
		value = encoded(f)
	default:
		value = json.RawMessage(trimmed)
		if !json.Valid(value) {
			return nil, "must be " + s.typeWords() + " in JSON"
		}
	}
	return value, s.Fault(value)
}

// Lines returns the lines of a text that are not blank, without space around them.
func Lines(text string) []string {
	list := []string{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}

func encoded(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil { // of a text, a list of texts or a finite number: never
		return nil
	}
	return bytes.TrimSpace(b.Bytes())
}

// Fault says what is wrong with a value, "" when nothing is. null stands for a
// setting that was left empty.
func (s *Setting) Fault(value json.RawMessage) string {
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		return "is not JSON"
	}
	if v == nil {
		return ""
	}
	if !s.is(v) {
		return fmt.Sprintf("must be %s, not %s", s.article(), clipped(string(value)))
	}
	if f, ok := v.(float64); ok {
		if fault := s.bounds(f); fault != "" {
			return fault
		}
	}
	if s.Enum != nil && !s.among(v) {
		return fmt.Sprintf("must be one of %s, not %s", strings.Join(s.choices(), ", "), clipped(s.Text(value)))
	}
	return ""
}

func clipped(text string) string {
	const most = 60
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// is reports whether a decoded value is of the setting's type.
func (s *Setting) is(v any) bool {
	switch v := v.(type) {
	case string:
		return s.Type == SettingText || s.Type == SettingAny
	case float64:
		return s.Type == SettingNumber || s.Type == SettingAny || s.Type == SettingInteger && v == math.Trunc(v)
	case bool:
		return s.Type == SettingBoolean || s.Type == SettingAny
	case map[string]any:
		return s.Type == SettingObject || s.Type == SettingAny
	case []any:
		return s.Type == SettingAny || s.Type == SettingTexts && allTexts(v)
	}
	return false
}

func allTexts(list []any) bool {
	for _, v := range list {
		if _, ok := v.(string); !ok {
			return false
		}
	}
	return true
}

func (s *Setting) bounds(v float64) string {
	switch {
	case s.Min != nil && v < *s.Min:
		return fmt.Sprintf("must be at least %s, not %s", figure(*s.Min), figure(v))
	case s.Max != nil && v > *s.Max:
		return fmt.Sprintf("must be at most %s, not %s", figure(*s.Max), figure(v))
	case s.Above != nil && v <= *s.Above:
		return fmt.Sprintf("must be greater than %s, not %s", figure(*s.Above), figure(v))
	case s.Below != nil && v >= *s.Below:
		return fmt.Sprintf("must be less than %s, not %s", figure(*s.Below), figure(v))
	}
	return ""
}

func figure(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// Range says in words which numbers are allowed, "" when all are.
func (s *Setting) Range() string {
	var words []string
	add := func(word string, bound *float64) {
		if bound != nil && math.Abs(*bound) < 1e12 {
			words = append(words, word+" "+figure(*bound))
		}
	}
	if s.Min != nil && s.Max != nil && math.Abs(*s.Min) < 1e12 && math.Abs(*s.Max) < 1e12 {
		return "From " + figure(*s.Min) + " to " + figure(*s.Max) + "."
	}
	add("at least", s.Min)
	add("more than", s.Above)
	add("at most", s.Max)
	add("less than", s.Below)
	if len(words) == 0 {
		return ""
	}
	text := strings.Join(words, ", ")
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

func (s *Setting) among(v any) bool {
	for _, allowed := range s.Enum {
		var a any
		if json.Unmarshal(allowed, &a) == nil && sameJSON(a, v) {
			return true
		}
	}
	return false
}

func (s *Setting) choices() []string {
	list := []string{}
	for _, e := range s.Enum {
		if text := s.Text(e); text != "" {
			list = append(list, text)
		}
	}
	return list
}

func (s *Setting) article() string {
	switch s.Type {
	case SettingInteger, SettingNumber, SettingText:
		return "a " + s.typeWords()
	}
	return s.typeWords()
}

func (s *Setting) typeWords() string {
	switch s.Type {
	case SettingText:
		return "text"
	case SettingInteger:
		return "whole number"
	case SettingNumber:
		return "number"
	case SettingBoolean:
		return "true or false"
	case SettingTexts:
		return "a list of texts"
	case SettingObject:
		return "an object"
	}
	return "a value"
}
