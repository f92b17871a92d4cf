package views

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Call is a tool that an agent uses, as people want to read it.
type Call struct {
	Name  string
	Key   string // the argument that says most, in one line
	Args  []Arg
	Whole string // all arguments as text
}

// Arg is an argument of a call.
type Arg struct {
	Name, Value string
	Long        bool // more than one line
}

// keyArgs are the arguments that say most about a call, the best first.
var keyArgs = []string{"command", "file_path", "path", "notebook_path", "pattern", "query", "url", "skill", "message",
	"description", "title", "prompt", "text", "_raw_arguments"}

const (
	maxKey   = 300    // characters in a header
	maxValue = 20_000 // bytes of one argument
)

// readCall reads the input of a tool: a JSON object, in the order in which its
// author wrote it. Anything else is kept as text.
func readCall(name string, input json.RawMessage) Call {
	c := Call{Name: name}
	fields, ok := objectFields(input)
	if !ok {
		if text := strings.TrimSpace(string(input)); text != "" && text != "null" {
			c.Args = []Arg{argOf("input", input)}
		}
	}
	for _, f := range fields {
		c.Args = append(c.Args, argOf(f.name, f.value))
	}
	c.Key = c.bestKey()
	var b strings.Builder
	for _, a := range c.Args {
		b.WriteString(a.Name + ": " + a.Value + "\n")
	}
	c.Whole = strings.TrimSuffix(b.String(), "\n")
	return c
}

func (c *Call) bestKey() string {
	for _, k := range keyArgs {
		if i := slices.IndexFunc(c.Args, func(a Arg) bool { return a.Name == k }); i >= 0 && c.Args[i].Value != "" {
			return firstLine(c.Args[i].Value, maxKey)
		}
	}
	if len(c.Args) > 0 {
		return firstLine(c.Args[0].Value, maxKey)
	}
	return ""
}

type jsonField struct {
	name  string
	value json.RawMessage
}

// objectFields returns the fields of a JSON object in their order.
func objectFields(raw json.RawMessage) ([]jsonField, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	var list []jsonField
	for d.More() {
		t, err := d.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return nil, false
		}
		var v json.RawMessage
		if d.Decode(&v) != nil {
			return nil, false
		}
		list = append(list, jsonField{name, v})
	}
	return list, true
}

func argOf(name string, raw json.RawMessage) Arg {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		var b bytes.Buffer
		if json.Indent(&b, raw, "", "  ") != nil {
			b.Write(raw)
		}
		text = b.String()
	}
	text, more := cut(text, maxValue)
	if more > 0 {
		text += "\n… " + plural(more, "byte more", "bytes more")
	}
	return Arg{Name: name, Value: text, Long: strings.Contains(text, "\n") || len(text) > 80}
}
