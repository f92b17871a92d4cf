package planfile

import (
	"bytes"
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// YAML writes JSON as YAML, its fields in the order in which they are there, texts
// of several lines as they are read.
func YAML(text []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	doc, err := node(d)
	if err != nil {
		return nil, fmt.Errorf("write a plan as YAML: %w", err)
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(doc); err != nil {
		return nil, fmt.Errorf("write a plan as YAML: %w", err)
	}
	return b.Bytes(), nil
}

// node reads the next value.
func node(d *json.Decoder) (*yaml.Node, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch v := t.(type) {
	case json.Delim:
		n := &yaml.Node{Kind: yaml.MappingNode}
		if v == '[' {
			n.Kind = yaml.SequenceNode
		}
		return n, items(d, n)
	case string:
		n := &yaml.Node{}
		n.SetString(v)
		return n, nil
	case json.Number:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: v.String()}, nil
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Value: fmt.Sprint(t)}, nil
}

// items reads what is in an object or a list, to its end. Lists of plain values
// stand in one line.
func items(d *json.Decoder, to *yaml.Node) error {
	short := to.Kind == yaml.SequenceNode
	for d.More() {
		n, err := node(d)
		if err != nil {
			return err
		}
		short = short && n.Kind == yaml.ScalarNode && n.Style == 0 && len(n.Value) < 60
		to.Content = append(to.Content, n)
	}
	if short {
		to.Style = yaml.FlowStyle
	}
	_, err := d.Token()
	return err
}
