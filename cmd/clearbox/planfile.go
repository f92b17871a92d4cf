package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxPlanFile is the size in bytes of the largest plan that a server takes.
const maxPlanFile = 8 << 20

// planFile is a plan as it was read from a file.
type planFile struct {
	name  string // for messages
	dir   string // where relative paths in it begin
	body  map[string]any
	lines map[string]int   // path of a value, such as nodes[2].title → line
	nodes map[string][]int // key of a step → indexes of the steps with it
}

// readPlanFile reads a plan in YAML or JSON, from standard input when the path
// is "-". Faults name file and line.
func readPlanFile(in io.Reader, path string) (*planFile, error) {
	p := &planFile{name: path, lines: map[string]int{}, nodes: map[string][]int{}}
	if path == "-" {
		p.name = "standard input"
	} else {
		f, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("read the plan: %w", err)
		}
		defer f.Close()
		in, p.dir = f, filepath.Dir(path)
	}
	b, err := io.ReadAll(io.LimitReader(in, maxPlanFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the plan: %w", err)
	case len(b) > maxPlanFile:
		return nil, fmt.Errorf("%s is larger than a plan may be (%d MiB)", p.name, maxPlanFile>>20)
	}
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	if bytes.HasPrefix(bytes.TrimSpace(b), []byte("{")) && !strings.HasSuffix(path, ".yaml") && !strings.HasSuffix(path, ".yml") {
		return p, p.readJSON(b)
	}
	return p, p.readYAML(b)
}

// at is a place in the file, for messages; line 0 is the whole.
func (p *planFile) at(line int) string {
	if line == 0 {
		return p.name
	}
	return p.name + ":" + strconv.Itoa(line)
}

func (p *planFile) readJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	err := d.Decode(&p.body)
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

func (p *planFile) readYAML(b []byte) error {
	d := yaml.NewDecoder(bytes.NewReader(b))
	var doc yaml.Node
	if err := d.Decode(&doc); errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: there is no plan in it", p.name)
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
	if p.body, ok = v.(map[string]any); !ok {
		return fmt.Errorf("%s: a plan has fields such as title and nodes", p.at(doc.Content[0].Line))
	}
	return p.checkKeys(v, "")
}

// yamlFault words what the YAML reader says.
func (p *planFile) yamlFault(err error) error {
	said := []string{strings.TrimPrefix(err.Error(), "yaml: ")}
	var many *yaml.TypeError
	if errors.As(err, &many) {
		said = many.Errors
	}
	var out faults
	for _, s := range said {
		line := 0
		if m := yamlLine.FindStringSubmatch(s); m != nil {
			line, _ = strconv.Atoi(m[1])
			s = m[2]
		}
		out = append(out, p.at(line)+": "+plain(s))
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
func (p *planFile) locate(n *yaml.Node, path string) {
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
func (p *planFile) checkKeys(v any, path string) error {
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

// setFolder decides what the plan works in: what a flag says, else what the file
// says, else the current folder. Relative paths in the file begin at the file. A
// subplan has none of its own.
func (p *planFile) setFolder(flag string) error {
	dir, given := p.body["working_directory"].(string)
	_, sub := p.body["parent_plan_id"]
	var err error
	switch {
	case flag != "":
		dir, err = filepath.Abs(flag)
	case given && !filepath.IsAbs(dir) && strings.TrimSpace(dir) != "":
		dir, err = filepath.Abs(filepath.Join(p.dir, dir))
	case given || sub || p.body["working_directory"] != nil:
		return nil
	default:
		dir, err = os.Getwd()
	}
	if err != nil {
		return fmt.Errorf("find the folder to work in: %w", err)
	}
	p.body["working_directory"] = dir
	return nil
}
