package scriptedmodel

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"text/template"
)

// fill executes the templates in a value made of JSON's types.
func fill(v any, r *Request) (any, error) {
	switch v := v.(type) {
	case string:
		return fillText(v, r)
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			var err error
			if out[i], err = fill(x, r); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			var err error
			if out[k], err = fill(x, r); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}

func fillText(s string, r *Request) (string, error) {
	if !strings.Contains(s, "{{") {
		return s, nil
	}
	t, err := template.New("").Funcs(template.FuncMap{"result": r.result, "match": r.match}).Parse(s)
	if err != nil {
		return "", fmt.Errorf("read template %q: %w", s, err)
	}
	var b strings.Builder
	if err := t.Execute(&b, nil); err != nil {
		return "", fmt.Errorf("fill template %q: %w", s, err)
	}
	return b.String(), nil
}

func (r *Request) result(n int) (string, error) {
	all := r.Results()
	if n < 0 || n >= len(all) {
		return "", fmt.Errorf("there is no tool result %d, only %d of them", n, len(all))
	}
	return all[n], nil
}

func (r *Request) match(expr string) (string, error) {
	re, err := regexp.Compile(expr)
	if err != nil {
		return "", err
	}
	for _, text := range r.Results() {
		switch found := re.FindStringSubmatch(text); {
		case found == nil:
		case len(found) > 1:
			return found[1], nil
		default:
			return found[0], nil
		}
	}
	return "", fmt.Errorf("no tool result matches %s", expr)
}

// arguments returns what is sent as the arguments of a call.
func (c Call) arguments(r *Request) (string, error) {
	if c.Raw != "" || c.Args == nil {
		return c.Raw, nil
	}
	raw, err := json.Marshal(c.Args)
	if err != nil {
		return "", fmt.Errorf("encode the arguments of %s: %w", c.Name, err)
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return "", fmt.Errorf("encode the arguments of %s: %w", c.Name, err)
	}
	if v, err = fill(v, r); err != nil {
		return "", err
	}
	raw, err = json.Marshal(v)
	return string(raw), err
}
