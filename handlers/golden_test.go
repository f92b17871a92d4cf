package handlers

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestConversations plays a whole conversation at each endpoint, one file each.
// A file is a list of sections "-- name --", a call as it is sent and then the
// answer to it. What is different at each run is written as $DIR, $URL, $PLAN …
func TestConversations(t *testing.T) {
	r, id, own := workerRig(t)
	for _, at := range []struct{ name, path string }{{"mcp", "/mcp"}, {"observe", "/mcp/observe"}, {"worker", own}} {
		t.Run(at.name, func(t *testing.T) {
			r.t = t
			vars := []string{"$DIR", t.TempDir(), "$URL", r.url, "$PLAN", fmt.Sprint(id)}
			converse(t, r, at.path, filepath.Join("testdata", at.name+".txtar"), vars)
		})
	}
}

func converse(t *testing.T, r *rig, path, file string, vars []string) {
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	comment, sections := parseSections(string(raw))
	back := make([]string, 0, len(vars))
	for i := 0; i < len(vars); i += 2 {
		back = append(back, vars[i+1], vars[i])
	}
	// Short numbers would be found everywhere, so only long values go back.
	unfill := strings.NewReplacer(back[:len(back)-2]...)
	got := comment
	for i := 0; i+1 < len(sections) || i < len(sections) && *update; i += 2 {
		call := sections[i]
		a := unfill.Replace(told(t, r, path, strings.NewReplacer(vars...).Replace(call.text)))
		got += "-- " + call.name + " --\n" + call.text + "-- answer --\n" + a
		if i+1 < len(sections) && sections[i+1].name != "answer" {
			i-- // it had no answer yet
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(raw), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// told sends one call, {"tool": …, "arguments": …}, and shows the answer.
func told(t *testing.T, r *rig, path, text string) string {
	t.Helper()
	var call struct {
		Tool      string          `json:"tool"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := json.Unmarshal([]byte(text), &call); err != nil {
		t.Fatalf("read a call: %v\n%s", err, text)
	}
	got := r.rpc(path, "tools/call", map[string]any{"name": call.Tool, "arguments": call.Arguments})["result"].(map[string]any)
	content := got["content"].([]any)[0].(map[string]any)["text"].(string)
	if got["isError"] == true {
		return "refused: " + content + "\n"
	}
	structured := got["structuredContent"]
	sameText(t, structured, content)
	mask(structured)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(structured); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// sameText checks that the text of an answer says what its value says.
func sameText(t *testing.T, structured any, content string) {
	t.Helper()
	if m, ok := structured.(map[string]any); ok && len(m) == 1 {
		if inner, ok := m["result"]; ok {
			structured = inner
		}
	}
	var fromText any = content
	if _, isText := structured.(string); !isText {
		if err := json.Unmarshal([]byte(content), &fromText); err != nil {
			t.Errorf("the text is no JSON: %v", err)
		}
	}
	if diff := cmp.Diff(structured, fromText); diff != "" {
		t.Errorf("value and text differ:\n%s", diff)
	}
}

// mask takes out what is not the same at each run, or is another package's text.
func mask(v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, x := range v {
			switch key {
			case "created_at", "updated_at":
				v[key] = "$TIME"
			case "working_directory", "workdir":
				v[key] = "$DIR"
			case "context", "instructions":
				v[key] = "$PROMPT"
			default:
				mask(x)
			}
		}
	case []any:
		for _, x := range v {
			mask(x)
		}
	}
}

type section struct{ name, text string }

func parseSections(s string) (comment string, list []section) {
	for line := range strings.Lines(s) {
		if name, ok := strings.CutPrefix(strings.TrimSuffix(line, " --\n"), "-- "); ok && strings.HasSuffix(line, " --\n") {
			list = append(list, section{name: name})
			continue
		}
		if len(list) == 0 {
			comment += line
			continue
		}
		list[len(list)-1].text += line
	}
	return comment, list
}

// TestToolList pins what models see of the tools, one line a parameter.
func TestToolList(t *testing.T) {
	eachEndpoint(t, func(t *testing.T, r *rig, path string, at door) {
		var b strings.Builder
		for _, x := range r.rpc(path, "tools/list", map[string]any{})["result"].(map[string]any)["tools"].([]any) {
			tool := x.(map[string]any)
			hints := tool["annotations"].(map[string]any)
			effect := map[any]string{true: ", something may be lost", false: ""}[hints["destructiveHint"]]
			if hints["readOnlyHint"] == true {
				effect = ", reads only"
			}
			fmt.Fprintf(&b, "%s%s\n\t%s\n", tool["name"], effect, tool["description"])
			params(&b, tool["inputSchema"].(map[string]any), "\t")
		}
		file := filepath.Join("testdata", at.String()+".tools")
		if *update {
			if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), b.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	})
}

func params(b *strings.Builder, schema map[string]any, indent string) {
	if schema["additionalProperties"] != false {
		fmt.Fprintf(b, "%s(more)\n", indent)
	}
	required := fmt.Sprint(schema["required"])
	props, _ := schema["properties"].(map[string]any)
	for _, name := range sortedKeys(props) {
		p := props[name].(map[string]any)
		mark := "?"
		if strings.Contains(" "+strings.Trim(required, "[]")+" ", " "+name+" ") {
			mark = ""
		}
		fmt.Fprintf(b, "%s%s%s %s: %v\n", indent, name, mark, typeName(p), p["description"])
		if items, ok := p["items"].(map[string]any); ok && items["properties"] != nil {
			params(b, items, indent+"\t")
		}
	}
}

func typeName(p map[string]any) string {
	if choice, ok := p["anyOf"].([]any); ok {
		var names []string
		for _, x := range choice {
			names = append(names, typeName(x.(map[string]any)))
		}
		return strings.Join(names, "|")
	}
	if items, ok := p["items"].(map[string]any); ok {
		return "[" + typeName(items) + "]"
	}
	return fmt.Sprint(p["type"])
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
