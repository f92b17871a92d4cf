package handlers

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// maxFaults bounds how many faults of one request are named.
const maxFaults = 50

// decoder reads what a client sent into a struct. Unlike encoding/json it finds
// all faults, names each by its path, tells what is missing from what is empty
// and takes names exactly as they are written.
type decoder struct {
	what   string // names the whole in messages
	strict bool   // fields that are not known are refused
	nulls  bool   // null clears, and zero is refused where null is meant
	urls   bool   // what the URL gives is not read from the body

	bad       plan.Problems
	malformed bool
}

// err returns nil, or one error with all faults under a headline.
func (d *decoder) err(headline string) error {
	err := d.bad.Err(headline)
	if err != nil && d.malformed {
		return &plan.Error{Kind: plan.Malformed, Msg: plan.MessageOf(err)}
	}
	return err
}

// fault notes that something cannot be read.
func (d *decoder) fault(format string, args ...any) {
	d.malformed = true
	d.note(format, args...)
}

func (d *decoder) note(format string, args ...any) {
	switch n := d.bad.Len(); {
	case n < maxFaults:
		d.bad.Addf(format, args...)
	case n == maxFaults:
		d.bad.Addf("and more of this kind")
	}
}

// object reads a JSON object into v, a struct of shape s. path is put before the
// names in it: "" for the whole, else it ends in a dot.
func (d *decoder) object(raw []byte, s *shape, v reflect.Value, path string) {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil || given == nil {
		got := describe(raw, err)
		if path == "" && strings.HasPrefix(got, `"`) {
			got = "a string" // not which: it may be a key that went astray
		}
		d.fault("%s must be a JSON object, not %s", cmp.Or(strings.TrimSuffix(path, "."), d.what), got)
		return
	}
	for i := range s.fields {
		f := &s.fields[i]
		if f.name == "" || d.urls && path == "" && f.param != "" {
			continue
		}
		value, ok := given[f.name]
		switch {
		case ok:
			d.value(value, f, v.FieldByIndex(f.index), path+f.name)
		case f.required:
			d.fault("%s is required", path+f.name)
		}
	}
	if d.strict || path != "" {
		d.unknown(given, s, path)
	}
}

// unknown refuses names that a shape does not have.
func (d *decoder) unknown(given map[string]json.RawMessage, s *shape, path string) {
	var names []string
	for name := range given {
		if _, ok := s.byName[name]; !ok {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return
	}
	slices.Sort(names)
	for _, name := range names {
		d.fault("unknown field %s; known are %s", clip(strconv.Quote(path+name)), strings.Join(s.names(), ", "))
	}
}

// value reads one field.
func (d *decoder) value(raw []byte, f *field, v reflect.Value, path string) {
	if string(raw) != "null" {
		if v.Kind() != reflect.Pointer {
			d.set(raw, f, v, path)
			return
		}
		p, faults := reflect.New(v.Type().Elem()), d.bad.Len()
		d.set(raw, f, p.Elem(), path)
		if d.nulls && isNumber(p.Elem()) && p.Elem().IsZero() && d.bad.Len() == faults {
			d.note("%s must be a positive number; null clears it", path)
		}
		v.Set(p)
		return
	}
	switch {
	case v.Kind() == reflect.Pointer:
		if d.nulls && !f.secret {
			v.Set(cleared(v.Type().Elem()))
		}
	case f.required && f.typ != agentRefType:
		d.fault("%s must be %s, not null", path, expected(f.typ))
	}
}

// cleared is what null stands for: nothing, and of a group of fields nothing in
// each.
func cleared(t reflect.Type) reflect.Value {
	p := reflect.New(t)
	for i := 0; t.Kind() == reflect.Struct && i < t.NumField(); i++ {
		if f := p.Elem().Field(i); f.Kind() == reflect.Pointer {
			f.Set(cleared(f.Type().Elem()))
		}
	}
	return p
}

// set reads a value that is not null.
func (d *decoder) set(raw []byte, f *field, v reflect.Value, path string) {
	switch t := v.Type(); {
	case f.secret && raw[0] != '"':
		d.fault("%s must be %s", path, expected(t))
	case t == agentRefType:
		if json.Unmarshal(raw, v.Addr().Interface()) != nil {
			d.fault("%s must be the name or id of an agent, not %s", path, describe(raw, nil))
		}
	case t == rawType:
		if raw[0] != '{' {
			d.fault("%s must be a JSON object, not %s", path, describe(raw, nil))
		}
		v.SetBytes(bytes.Clone(raw))
	case t.Kind() == reflect.Slice:
		d.list(raw, f, v, path)
	case t.Kind() == reflect.Struct:
		d.object(raw, f.sub, v, path+".")
	default:
		d.plain(raw, v, path)
	}
}

func (d *decoder) list(raw []byte, f *field, v reflect.Value, path string) {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		d.fault("%s must be a list, not %s", path, describe(raw, nil))
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(items), len(items)))
	for i, item := range items {
		at := path + "[" + strconv.Itoa(i) + "]"
		if string(item) == "null" {
			d.fault("%s must be %s, not null", at, expected(v.Type().Elem()))
			continue
		}
		d.set(item, f, v.Index(i), at)
	}
}

// plain reads a string, a boolean or a number.
func (d *decoder) plain(raw []byte, v reflect.Value, path string) {
	ok := false
	switch v.Kind() {
	case reflect.String:
		var s string
		if ok = raw[0] == '"' && json.Unmarshal(raw, &s) == nil; ok {
			v.SetString(s)
		}
	case reflect.Bool:
		if ok = string(raw) == "true" || string(raw) == "false"; ok {
			v.SetBool(raw[0] == 't')
		}
	case reflect.Float64:
		var n float64
		if ok = json.Unmarshal(raw, &n) == nil; ok {
			v.SetFloat(n)
		}
	default:
		var n int64
		n, ok = wholeNumber(string(raw))
		if ok = ok && !v.OverflowInt(n); ok {
			v.SetInt(n)
		}
	}
	if !ok {
		d.fault("%s must be %s, not %s", path, expected(v.Type()), describe(raw, nil))
	}
}

// wholeNumber reads an integer as JSON writes it: 3, and 3.0 or 3e0 too, which
// some clients send.
func wholeNumber(s string) (int64, bool) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, true
	}
	if s == "" || s[0] != '-' && (s[0] < '0' || s[0] > '9') {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<53 {
		return 0, false
	}
	return int64(f), true
}

func isNumber(v reflect.Value) bool { return v.CanInt() || v.CanFloat() }

// expected names a type for people.
func expected(t reflect.Type) string {
	switch {
	case t == agentRefType:
		return "the name or id of an agent"
	case t == rawType || t.Kind() == reflect.Struct:
		return "a JSON object"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return expected(t.Elem())
	case reflect.Slice:
		return "a list"
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Float64:
		return "a number"
	}
	return "a whole number"
}

// describe shows a JSON value in a message, or why it is none.
func describe(raw []byte, err error) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return "nothing"
	}
	if err != nil && !json.Valid(raw) {
		return fmt.Sprintf("broken JSON (%s)", err)
	}
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	}
	return clip(string(raw))
}

// clip shortens what a client sent to what a message can hold.
func clip(s string) string {
	const limit = 80
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}
