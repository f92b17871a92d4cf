package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Settings are what can be set about an agent of a harness: the params of its
// profiles.
type Settings struct {
	List []Setting // in the order in which the harness shows them
	Open bool      // params that the list does not name are allowed
}

// ReviewParam is the one param that Clearbox reads itself, whatever the harness.
const ReviewParam = "review_capability"

// schemaNode is the part of JSON Schema that settings are made from.
type schemaNode struct {
	Type        json.RawMessage   `json:"type"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Format      string            `json:"format"`
	Default     json.RawMessage   `json:"default"`
	Enum        []json.RawMessage `json:"enum"`
	Minimum     *float64          `json:"minimum"`
	Maximum     *float64          `json:"maximum"`
	Above       *float64          `json:"exclusiveMinimum"`
	Below       *float64          `json:"exclusiveMaximum"`
	Items       json.RawMessage   `json:"items"`
	Properties  json.RawMessage   `json:"properties"`
	Required    []string          `json:"required"`
	Order       []string          `json:"propertyOrder"`
	Additional  json.RawMessage   `json:"additionalProperties"`
}

// ParseSettings reads the JSON Schema of a harness's params. What it does not
// understand of a setting it leaves open: the harness itself has the last word.
// A schema of nothing allows everything.
func ParseSettings(schema json.RawMessage) (Settings, error) {
	if len(bytes.TrimSpace(schema)) == 0 {
		return Settings{Open: true}, nil
	}
	var root schemaNode
	if err := json.Unmarshal(schema, &root); err != nil {
		return Settings{Open: true}, fmt.Errorf("read the settings schema: %w", err)
	}
	var props map[string]json.RawMessage
	if len(root.Properties) > 0 {
		if err := json.Unmarshal(root.Properties, &props); err != nil {
			return Settings{Open: true}, fmt.Errorf("read the properties of the settings schema: %w", err)
		}
	}
	out := Settings{Open: strings.TrimSpace(string(root.Additional)) != "false"}
	for _, name := range inOrder(root.Order, root.Properties, props) {
		s := settingOf(name, props[name])
		s.Required = slices.Contains(root.Required, name) && s.Default == nil
		out.List = append(out.List, s)
	}
	return out, nil
}

// inOrder lists the properties as the schema orders them: those it lists first,
// then the others as they stand in it.
func inOrder(order []string, raw json.RawMessage, props map[string]json.RawMessage) []string {
	var names []string
	add := func(name string) {
		if _, known := props[name]; known && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range order {
		add(name)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err == nil {
		for d.More() {
			key, err := d.Token()
			var skipped json.RawMessage
			if err != nil || d.Decode(&skipped) != nil {
				break
			}
			if name, ok := key.(string); ok {
				add(name)
			}
		}
	}
	return names
}

func settingOf(name string, raw json.RawMessage) Setting {
	s := Setting{Name: name, Title: name}
	var n schemaNode
	if json.Unmarshal(raw, &n) != nil {
		return s // true and false are schemas, too
	}
	if n.Title != "" {
		s.Title = n.Title
	}
	s.Help, s.Default, s.Enum = n.Description, n.Default, n.Enum
	s.Min, s.Max, s.Above, s.Below = n.Minimum, n.Maximum, n.Above, n.Below
	s.Type = settingType(&n)
	s.Long = s.Type == SettingText && (n.Format == "textarea" || n.Format == "multiline")
	return s
}

// settingType tells the type of a setting; one of several types is SettingAny,
// unless all but one are null.
func settingType(n *schemaNode) string {
	var one string
	if json.Unmarshal(n.Type, &one) != nil {
		var several []string
		if json.Unmarshal(n.Type, &several) != nil {
			return SettingAny
		}
		several = slices.DeleteFunc(several, func(t string) bool { return t == "null" })
		if len(several) != 1 {
			return SettingAny
		}
		one = several[0]
	}
	switch one {
	case SettingText, SettingInteger, SettingNumber, SettingBoolean, SettingObject:
		return one
	case "array":
		var items struct{ Type string }
		if json.Unmarshal(n.Items, &items) == nil && items.Type == "string" {
			return SettingTexts
		}
	}
	return SettingAny
}

// Named returns a setting, nil when there is none of that name.
func (s *Settings) Named(name string) *Setting {
	for i := range s.List {
		if s.List[i].Name == name {
			return &s.List[i]
		}
	}
	return nil
}

// Check adds what is wrong with the params of a profile, by field. Params that
// are no object have been refused before.
func (s *Settings) Check(params json.RawMessage, bad *Problems) {
	given := map[string]json.RawMessage{}
	if len(params) > 0 && json.Unmarshal(params, &given) != nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		switch one := s.Named(name); {
		case one != nil:
			if fault := one.Fault(given[name]); fault != "" {
				bad.Addf("params.%s %s", name, fault)
			}
		case !s.Open && name != ReviewParam:
			bad.Addf("params.%s is no setting of this harness: it has %s", name, s.names())
		}
	}
	for i := range s.List {
		if v := given[s.List[i].Name]; s.List[i].Required && (v == nil || string(v) == "null") {
			bad.Addf("params.%s must be set", s.List[i].Name)
		}
	}
}

func (s *Settings) names() string {
	if len(s.List) == 0 {
		return "none"
	}
	var names []string
	for i := range s.List {
		names = append(names, s.List[i].Name)
	}
	return strings.Join(names, ", ")
}

// SameJSON reports whether two texts are the same value.
func SameJSON(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return bytes.Equal(a, b)
	}
	return sameJSON(x, y)
}

func sameJSON(a, b any) bool { return reflect.DeepEqual(a, b) }
