package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// call is a tool call of a reply. Its id may be empty or used before.
type call struct {
	id, name, args string
}

// calls puts tool calls together from their pieces. Servers disagree on how a piece
// says which call it belongs to: by index, by id, by both, by neither, with indexes
// that are all 0 or have gaps, with an id that is new on every piece, with the name
// on every piece or only after the first arguments. The order of the first pieces is
// the order of the calls.
type calls struct {
	order   []*call
	byIndex map[int]*call
	byID    map[string]*call
}

func (c *calls) add(index looseInt, id, name, args string) {
	t := c.find(index, id, name, args)
	if t == nil {
		t = &call{}
		c.order = append(c.order, t)
	}
	if c.byIndex == nil {
		c.byIndex, c.byID = map[int]*call{}, map[string]*call{}
	}
	if index.known {
		c.byIndex[index.n] = t
	}
	if id != "" {
		c.byID[id] = t
	}
	if t.id == "" {
		t.id = id
	}
	if t.name == "" { // never joined: those who repeat it repeat all of it
		t.name = name
	}
	t.args += args
}

// find returns the call that a piece belongs to, nil for a new one.
func (c *calls) find(index looseInt, id, name, args string) *call {
	if index.known {
		if t := c.byIndex[index.n]; t != nil {
			return c.atUsedIndex(t, id, name, args)
		}
		if t := c.byID[id]; id != "" && t != nil && name == "" {
			return t
		}
		return nil
	}
	if id != "" {
		if t := c.byID[id]; t != nil && !t.over(name, args) {
			return t
		}
	}
	last := c.last()
	switch {
	case last == nil || last.over(name, args):
		return nil
	case name != "" && last.name != "" && (name != last.name || id != "" && id != last.id):
		return nil // though the arguments of the last one are not complete, or none
	}
	return last
}

// atUsedIndex decides whether a piece goes on with the call at its index or opens
// another one, as with servers that give every call the index 0.
func (c *calls) atUsedIndex(t *call, id, name, args string) *call {
	if id != "" && t.id != "" && id != t.id {
		if seen := c.byID[id]; seen != nil {
			return seen
		}
		if name != "" && (t.over(name, args) || name != t.name) {
			return nil
		}
		return t
	}
	if t.over(name, args) {
		return nil
	}
	return t
}

// over reports whether a piece with a name of its own comes after the call's
// arguments are complete, so that it must be of another call.
func (t *call) over(name, args string) bool {
	return name != "" && t.name != "" && isObject(t.args) && strings.TrimSpace(args) != ""
}

func (c *calls) last() *call {
	if len(c.order) == 0 {
		return nil
	}
	return c.order[len(c.order)-1]
}

func (c *calls) list() []call {
	var out []call
	for _, t := range c.order {
		out = append(out, *t)
	}
	return out
}

// input returns the arguments as the object that they must be. Nothing is the empty
// object; an object that was encoded twice is decoded twice.
func (t call) input() (json.RawMessage, error) {
	text := strings.TrimSpace(t.args)
	if text == "" || text == "null" {
		return json.RawMessage(`{}`), nil
	}
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return nil, fmt.Errorf("invalid JSON in the arguments of %s: %w; send one JSON object", t.name, err)
	}
	if s, ok := v.(string); ok && isObject(s) {
		return json.RawMessage(s), nil
	}
	if _, ok := v.(map[string]any); !ok {
		return nil, fmt.Errorf("invalid JSON in the arguments of %s: they must be an object, and not %.40s", t.name, text)
	}
	return json.RawMessage(text), nil
}
