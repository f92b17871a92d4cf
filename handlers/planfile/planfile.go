// Package planfile reads and writes plans as files, in YAML or JSON: the same on
// the command line and in the browser. Faults name the line that they are about.
package planfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// maxSize is the size in bytes of the largest plan that a server takes.
const maxSize = 8 << 20

// File is a plan as it was read from a file.
type File struct {
	Name string         // for messages
	Body map[string]any // the fields of a plan, as JSON has them

	lines map[string]int   // path of a value, such as nodes[2].title → line
	nodes map[string][]int // key of a step → indexes of the steps with it
}

// Faults is an error that lists several things to mend, a line each.
type Faults []string

func (f Faults) Error() string { return strings.Join(f, "\n") }

// Read reads a plan. The name is for messages; by its ending it says which of the
// two forms the file has, else a brace at its beginning does. An error of reading
// the file itself is that of in; others say what is wrong with the plan.
func Read(name string, in io.Reader) (*File, error) {
	p := &File{Name: name, lines: map[string]int{}, nodes: map[string][]int{}}
	b, err := io.ReadAll(io.LimitReader(in, maxSize+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the plan: %w", err)
	case len(b) > maxSize:
		return nil, fmt.Errorf("%s is larger than a plan may be (%d MiB)", p.Name, maxSize>>20)
	}
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	if bytes.HasPrefix(bytes.TrimSpace(b), []byte("{")) && !strings.HasSuffix(name, ".yaml") && !strings.HasSuffix(name, ".yml") {
		return p, p.readJSON(b)
	}
	return p, p.readYAML(b)
}

// at is a place in the file, for messages; line 0 is the whole.
func (p *File) at(line int) string {
	if line == 0 {
		return p.Name
	}
	return p.Name + ":" + strconv.Itoa(line)
}

func (p *File) readJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	err := d.Decode(&p.Body)
	offset := d.InputOffset()
	if err == nil {
		if _, extra := d.Token(); extra != io.EOF {
			err = errors.New("there is something after the end of the plan")
			offset = int64(len(b) - len(bytes.TrimLeft(b[offset:], " \t\r\n")))
		}
	}
	var syntax *json.SyntaxError
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &wrong):
		offset = wrong.Offset
	case errors.Is(err, io.ErrUnexpectedEOF):
		offset, err = int64(len(b)), errors.New("the plan ends in the middle")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.at(1+bytes.Count(b[:offset], []byte("\n"))), err)
	}
	var doc yaml.Node // JSON is nearly YAML, whose reader knows the lines
	if yaml.Unmarshal(b, &doc) == nil {
		p.locate(&doc, "")
	}
	return nil
}

func (p *File) readYAML(b []byte) error {
	d := yaml.NewDecoder(bytes.NewReader(b))
	var doc yaml.Node
	if err := d.Decode(&doc); errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: there is no plan in it", p.Name)
	} else if err != nil {
		return p.yamlFault(err)
	}
	var second yaml.Node
	if err := d.Decode(&second); err == nil {
		return fmt.Errorf("%s: a second document begins here; a file has one plan", p.at(second.Line))
	} else if !errors.Is(err, io.EOF) {
		return p.yamlFault(err)
	}
	p.locate(&doc, "")
	var v any
	if err := doc.Decode(&v); err != nil {
		return p.yamlFault(err)
	}
	var ok bool
	if p.Body, ok = v.(map[string]any); !ok {
		return fmt.Errorf("%s: a plan has fields such as title and nodes", p.at(doc.Content[0].Line))
	}
	return p.checkKeys(v, "")
}

// yamlFault words what the YAML reader says.
func (p *File) yamlFault(err error) error {
	said := []string{strings.TrimPrefix(err.Error(), "yaml: ")}
	var many *yaml.TypeError
	if errors.As(err, &many) {
		said = many.Errors
	}
	var out Faults
	for _, s := range said {
		line := 0
		if m := yamlLine.FindStringSubmatch(s); m != nil {
			line, _ = strconv.Atoi(m[1])
			s = m[2]
		}
		out = append(out, p.at(line)+": "+oneLine(s))
	}
	return out
}

var yamlLine = regexp.MustCompile(`^line (\d+): (?s)(.*)$`)

// textual are the fields that hold text, however YAML would read it: a key 1 or
// a title 1.10 is what was written.
var textual = []string{"key", "title", "description", "working_directory", "test_instructions", "check_command",
	"files", "results_from", "acceptance_criteria", "edges"}

var fieldName = regexp.MustCompile(`(\w+)(\[\d+\])*$`)

// locate notes the lines of everything in a tree, and makes text of what is.
func (p *File) locate(n *yaml.Node, path string) {
	if path != "" {
		p.lines[path] = n.Line
	}
	switch n.Kind {
	case yaml.DocumentNode:
		p.locate(n.Content[0], path)
	case yaml.SequenceNode:
		for i, item := range n.Content {
			p.locate(item, path+"["+strconv.Itoa(i)+"]")
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			name, value := n.Content[i], n.Content[i+1]
			at := strings.TrimPrefix(path+"."+name.Value, ".")
			p.locate(value, at)
			p.lines[at] = name.Line
			if m := nodePath.FindStringSubmatch(path); m != nil && name.Value == "key" {
				index, _ := strconv.Atoi(m[1])
				p.nodes[value.Value] = append(p.nodes[value.Value], index)
			}
		}
	case yaml.ScalarNode:
		m := fieldName.FindStringSubmatch(path)
		number := n.Tag == "!!int" || n.Tag == "!!float" || n.Tag == "!!bool"
		if n.Tag == "!!timestamp" || number && m != nil && slices.Contains(textual, m[1]) {
			n.Tag = "!!str"
		}
	}
}

var nodePath = regexp.MustCompile(`^nodes\[(\d+)\]$`)

// checkKeys makes sure that all names are text, as JSON wants them.
func (p *File) checkKeys(v any, path string) error {
	switch v := v.(type) {
	case map[any]any:
		return fmt.Errorf("%s: the names of fields must be text", p.at(p.lines[path]))
	case map[string]any:
		for name, value := range v {
			if err := p.checkKeys(value, strings.TrimPrefix(path+"."+name, ".")); err != nil {
				return err
			}
		}
	case []any:
		for i, item := range v {
			if err := p.checkKeys(item, path+"["+strconv.Itoa(i)+"]"); err != nil {
				return err
			}
		}
	}
	return nil
}

// oneLine is a text without what would make a terminal do things.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}
