package plugin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// field is one key that the data of a kind must have.
type field struct {
	name     string
	want     string // "text", "object", "bool", "number", "integer"
	optional bool   // may be null, and is added as null when missing
}

// shapes are the keys of the contract. Further keys of an author pass through.
var shapes = map[string][]field{
	KindSystem:      {{"text", "text", false}, {"session_id", "text", true}, {"model", "text", true}, {"cwd", "text", true}},
	KindText:        {{"text", "text", false}, {"parent_tool_use_id", "text", true}},
	KindThinking:    {{"text", "text", false}, {"parent_tool_use_id", "text", true}},
	KindToolUse:     {{"id", "text", false}, {"name", "text", false}, {"input", "object", false}, {"parent_tool_use_id", "text", true}},
	KindToolResult:  {{"tool_use_id", "text", false}, {"content", "text", false}, {"is_error", "bool", false}, {"parent_tool_use_id", "text", true}},
	KindError:       {{"text", "text", false}},
	KindUsage:       {{"tokens_in", "integer", false}, {"tokens_out", "integer", false}},
	KindLog:         {{"text", "text", false}, {"stream", "text", true}},
	KindRateLimited: {{"text", "text", false}, {"until", "number", true}},
}

// checked returns e as the contract wants it, or false when there is nothing to
// tell. An event that cannot be repaired becomes a log event that says what is
// wrong with it, so that the author sees it where they look.
func checked(e Event) (Event, bool) {
	if e.At.IsZero() {
		e.At = time.Now()
	}
	e.At = e.At.Round(0) // the monotonic clock of another process means nothing
	data, err := checkedData(e.Kind, e.Data)
	if err != nil {
		return Event{At: e.At, Kind: KindLog, Data: Log(fmt.Sprintf("malformed event: %v", err), "").Data}, true
	}
	e.Data = data
	return e, data != nil
}

// CheckEvent says how an event that came over the wire breaks the contract, nil
// when it does not. Emit leaves no such event; this is for tests of harnesses.
func CheckEvent(e Event) error {
	if _, ok := shapes[e.Kind]; !ok {
		return fmt.Errorf("event %d has the unknown kind %q", e.Seq, e.Kind)
	}
	c, ok := checked(e)
	switch {
	case !ok:
		return fmt.Errorf("event %d (%s) is blank", e.Seq, e.Kind)
	case c.Kind != e.Kind:
		text, _ := DecodeText(c)
		return fmt.Errorf("event %d: %s", e.Seq, text)
	case !bytes.Equal(c.Data, e.Data):
		return fmt.Errorf("event %d (%s) lacks a key, is larger than %d bytes, or holds NUL or bad UTF-8", e.Seq, e.Kind, MaxEventSize)
	case e.At.IsZero():
		return fmt.Errorf("event %d (%s) has no time", e.Seq, e.Kind)
	}
	return nil
}

// checkedData returns the data as the contract wants it, nil when it says
// nothing.

func checkedData(kind string, data json.RawMessage) (json.RawMessage, error) {
	shape, ok := shapes[kind]
	if !ok {
		return nil, fmt.Errorf("kind %s is not one that a harness may emit", cutBytes(fmt.Sprintf("%q", clean(kind)), 100))
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil || fields == nil {
		return nil, fmt.Errorf("the data of a %s event must be a JSON object", kind)
	}
	changed, err := fill(kind, shape, fields)
	if err != nil {
		return nil, err
	}
	if (kind == KindText || kind == KindThinking || kind == KindLog) && blank(fields["text"]) {
		return nil, nil
	}
	if kind == KindToolResult && shortened(fields) {
		changed = true
	}
	// The usual event came from a constructor and passes as it is.
	if !changed && len(data) <= MaxEventSize && plain(data) {
		return bytes.Clone(data), nil
	}
	return rebuilt(shape, fields), nil
}

// fill adds the keys that may be null and refuses what has the wrong type.
func fill(kind string, shape []field, fields map[string]json.RawMessage) (changed bool, err error) {
	for _, f := range shape {
		raw, ok := fields[f.name]
		switch {
		case ok && is(f.want, raw):
		case f.optional && ok && string(raw) == "null":
		case f.optional && !ok:
			fields[f.name] = json.RawMessage("null")
			changed = true
		case !ok:
			return false, fmt.Errorf("a %s event needs the field %s", kind, f.name)
		default:
			return false, fmt.Errorf("field %s of a %s event must be of type %s", f.name, kind, f.want)
		}
	}
	return changed, nil
}

func is(want string, raw json.RawMessage) bool {
	switch want {
	case "text":
		return raw[0] == '"'
	case "object":
		return raw[0] == '{'
	case "bool":
		return raw[0] == 't' || raw[0] == 'f'
	case "integer":
		var n int64
		return json.Unmarshal(raw, &n) == nil && string(raw) != "null" && n >= 0
	}
	return raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9'
}

// shortened cuts the content of a tool result that no constructor cut.
func shortened(fields map[string]json.RawMessage) bool {
	if len(fields["content"]) <= MaxToolResult {
		return false
	}
	var content string
	if json.Unmarshal(fields["content"], &content) != nil {
		return false
	}
	if utf8.RuneCountInString(content) <= MaxToolResult+maxMark {
		return false
	}
	fields["content"] = encode(cutRunes(clean(content), MaxToolResult))
	return true
}

// blank says whether a JSON text has nothing but white space.
func blank(raw json.RawMessage) bool {
	if len(raw) > 2 && raw[1] > ' ' && raw[1] < utf8.RuneSelf && raw[1] != '\\' {
		return false // the usual text
	}
	var s string
	return json.Unmarshal(raw, &s) != nil || strings.TrimSpace(s) == ""
}

// plain says that JSON holds neither bad bytes nor an escape that could stand
// for NUL or half a character.
func plain(data []byte) bool {
	for rest := data; ; {
		i := bytes.IndexByte(rest, '\\')
		if i < 0 {
			return utf8.Valid(data)
		}
		escape := rest[i+1:] // JSON is valid here: there is always a next byte
		if escape[0] == 'u' {
			hex := strings.ToLower(string(escape[1:5]))
			if hex == "0000" || hex >= "d800" && hex <= "dfff" {
				return false
			}
		}
		rest = escape[1:]
	}
}

// rebuilt writes the fields again, clean and within the size limit.
func rebuilt(shape []field, fields map[string]json.RawMessage) json.RawMessage {
	values := make(map[string]any, len(fields))
	for name, raw := range fields {
		values[clean(name)] = parsed(raw)
	}
	if b, ok := fitted(values, MaxEventSize); ok {
		return b
	}
	// Too many parts rather than too long ones: keep what the contract names.
	kept := make(map[string]any, len(shape))
	for _, f := range shape {
		kept[f.name] = cutValue(values[f.name], 1024)
		if f.want == "object" {
			kept[f.name] = map[string]any{"_left_out": fmt.Sprintf("%d bytes", len(fields[f.name]))}
		}
	}
	return encode(kept)
}

// fitted writes v in at most limit bytes by cutting its texts, as little as
// needed.
func fitted(v any, limit int) (b json.RawMessage, ok bool) {
	if b = encode(v); len(b) <= limit {
		return b, true
	}
	const least = 64
	if len(encode(cutValue(v, least))) > limit {
		return nil, false
	}
	for most := limit / 2; most > least; most /= 4 {
		if b = encode(cutValue(v, most)); len(b) <= limit {
			return b, true
		}
	}
	return encode(cutValue(v, least)), true
}

// parsed reads valid JSON into clean values, numbers as they were written.
func parsed(raw json.RawMessage) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return cleanValue(v)
}

func cleanValue(v any) any {
	return mapStrings(v, clean)
}

// cutValue returns v with every text cut to at most n bytes.
func cutValue(v any, n int) any {
	return mapStrings(v, func(s string) string { return cutBytes(s, n) })
}

// mapStrings returns a copy of v with f applied to each text and each key.
func mapStrings(v any, f func(string) string) any {
	switch v := v.(type) {
	case string:
		return f(v)
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = mapStrings(x, f)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[f(k)] = mapStrings(x, f)
		}
		return out
	}
	return v
}

// checkedJSON returns a clean JSON object of at most limit bytes, for what is
// not an event.
func checkedJSON(raw json.RawMessage, limit int) json.RawMessage {
	if b, ok := fitted(parsed(object(raw)), limit); ok {
		return b
	}
	return encode(map[string]string{"_left_out": fmt.Sprintf("%d bytes", len(raw))})
}
