package handlers

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// sample has a field of every sort.
type sample struct {
	sampleBase
	ID     plan.PlanID      `json:"id" param:"id"`
	Title  string           `json:"title"`
	Note   *string          `json:"note,omitempty"`
	Count  *int             `json:"count,omitempty"`
	Cost   float64          `json:"cost,omitempty"`
	Yes    bool             `json:"yes,omitempty"`
	Agent  engine.AgentRef  `json:"agent,omitempty"`
	Must   *string          `json:"must"`
	List   []string         `json:"list,omitempty"`
	Pairs  [][]string       `json:"pairs,omitempty"`
	Items  []sampleItem     `json:"items,omitempty"`
	Object *json.RawMessage `json:"object,omitempty"`
	Key    *string          `json:"key,omitempty" secret:"true"`
	Hidden string           `json:"-"`
}

type sampleBase struct {
	Title int    `json:"title"` // hidden by sample's own
	Base  string `json:"base,omitempty"`
}

type sampleItem struct {
	Name string `json:"name"`
	N    int8   `json:"n,omitempty"`
}

func decodeSample(d *decoder, text string) (sample, error) {
	var got sample
	d.what = "arguments"
	d.object([]byte(text), shapeOf(reflect.TypeFor[sample]()), reflect.ValueOf(&got).Elem(), "")
	return got, d.err("refused:")
}

func TestDecodeTakes(t *testing.T) {
	raw := json.RawMessage(`{"a": [1]}`)
	tests := []struct {
		name, text string
		want       sample
	}{
		{"everything", `{"id":7,"title":"T","note":"n","count":3,"cost":1.5,"yes":true,"agent":"mock","must":"m","list":["a","b"],"pairs":[["a","b"],[]],
			"items":[{"name":"x","n":-3}],"object":{"a": [1]},"key":"k","base":"b"}`,
			sample{sampleBase{Base: "b"}, 7, "T", ptr("n"), ptr(3), 1.5, true, "mock", ptr("m"), []string{"a", "b"}, [][]string{{"a", "b"}, {}},
				[]sampleItem{{"x", -3}}, &raw, ptr("k"), ""}},
		{"null for what may be left out", `{"id":7,"title":"T","must":null,"note":null,"list":null,"cost":null,"agent":null,"items":null,"object":null}`, sample{ID: 7, Title: "T"}},
		{"whole numbers in other words", `{"id":7.0,"title":"T","must":null,"count":1e2}`, sample{ID: 7, Title: "T", Count: ptr(100)}},
		{"agents by id", `{"id":7,"title":"T","must":null,"agent":12}`, sample{ID: 7, Title: "T", Agent: "12"}},
		{"empty lists are lists", `{"id":7,"title":"T","must":null,"list":[]}`, sample{ID: 7, Title: "T", List: []string{}}},
		{"the last of two", `{"id":7,"title":"S","title":"T","must":null}`, sample{ID: 7, Title: "T"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := decodeSample(&decoder{strict: true}, tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(sample{})); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"nothing", ``, "arguments must be a JSON object, not nothing"},
		{"null", `null`, "arguments must be a JSON object, not null"},
		{"a list", `[]`, "arguments must be a JSON object, not a list"},
		{"broken JSON", `{"id":`, "arguments must be a JSON object, not broken JSON"},
		{"what is missing", `{"must":null}`, "id is required\n- title is required"},
		{"a null title", `{"id":7,"title":null,"must":null}`, "title must be a string, not null"},
		{"text for a number", `{"id":"7","title":"T","must":null}`, `id must be a whole number, not "7"`},
		{"a fraction", `{"id":7.5,"title":"T","must":null}`, "id must be a whole number, not 7.5"},
		{"too large", `{"id":9223372036854775808,"title":"T","must":null}`, "id must be a whole number, not 9223372036854775808"},
		{"too large, as a float", `{"id":1e300,"title":"T","must":null}`, "id must be a whole number, not 1e300"},
		{"too large for its type", `{"id":7,"title":"T","must":null,"items":[{"name":"x","n":300}]}`, "items[0].n must be a whole number, not 300"},
		{"a number for text", `{"id":7,"title":7,"must":null}`, "title must be a string, not 7"},
		{"text for a truth", `{"id":7,"title":"T","must":null,"yes":"true"}`, `yes must be true or false, not "true"`},
		{"a list for an agent", `{"id":7,"title":"T","must":null,"agent":[]}`, "agent must be the name or id of an agent, not a list"},
		{"a text for a list", `{"id":7,"title":"T","must":null,"list":"a"}`, `list must be a list, not "a"`},
		{"a number in a list", `{"id":7,"title":"T","must":null,"list":["a",7]}`, "list[1] must be a string, not 7"},
		{"a null in a list", `{"id":7,"title":"T","must":null,"list":[null]}`, "list[0] must be a string, not null"},
		{"a text for a pair", `{"id":7,"title":"T","must":null,"pairs":[["a","b"],"c"]}`, `pairs[1] must be a list, not "c"`},
		{"inside an item", `{"id":7,"title":"T","must":null,"items":[{"name":"x"},{"nam":"y"}]}`, "items[1].name is required\n- unknown field \"items[1].nam\"; known are name, n"},
		{"an item that is none", `{"id":7,"title":"T","must":null,"items":["x"]}`, `items[0] must be a JSON object, not "x"`},
		{"no object", `{"id":7,"title":"T","must":null,"object":[1]}`, "object must be a JSON object, not a list"},
		{"unknown names", `{"id":7,"title":"T","must":null,"Title":"x","hidden":1}`, "unknown field \"Title\""},
		{"a key, without repeating it", `{"id":7,"title":"T","must":null,"key":12345}`, "key must be a string"},
		{"a long value, in part", `{"id":"` + strings.Repeat("x", 500) + `","title":"T","must":null}`, "xxx…"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := decodeSample(&decoder{strict: true}, tt.text)
			if plan.KindOf(err) != plan.Malformed || !strings.Contains(plan.MessageOf(err), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if err != nil && (strings.Contains(err.Error(), "12345") || len(err.Error()) > 700) {
				t.Errorf("it says too much: %v", err)
			}
		})
	}
}

func TestNullClearsWhereItIsMeantTo(t *testing.T) {
	got, err := decodeSample(&decoder{nulls: true, urls: true}, `{"id":9,"title":"T","must":"m","note":null,"count":null,"key":null,"object":null,"zzz":1}`)
	want := sample{Title: "T", Must: ptr("m"), Note: ptr(""), Count: ptr(0), Object: ptr(json.RawMessage(nil))}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(sample{})); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	_, err = decodeSample(&decoder{nulls: true, urls: true}, `{"title":"T","must":"m","count":0}`)
	if plan.KindOf(err) != plan.Invalid || !strings.Contains(err.Error(), "count must be a positive number; null clears it") {
		t.Errorf("zero: %v", err)
	}
	_, err = decodeSample(&decoder{nulls: true, urls: true}, `{"title":"T","must":"m","count":0,"yes":3}`)
	if plan.KindOf(err) != plan.Malformed || !strings.Contains(err.Error(), "positive") || !strings.Contains(err.Error(), "yes") {
		t.Errorf("zero and a wrong type: %v", err)
	}
}

func TestSchemaSaysWhatIsDecoded(t *testing.T) {
	b, err := json.Marshal(shapeOf(reflect.TypeFor[sample]()).schema())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"required":["id","title","must"]`, `"additionalProperties":false`, `"title":{"type":"string"}`, `"count":{"type":"integer"}`,
		`"cost":{"type":"number"}`, `"yes":{"type":"boolean"}`, `"agent":{"anyOf":[{"type":"string"},{"type":"integer"},{"type":"null"}]}`,
		`"must":{"anyOf":[{"type":"string"},{"type":"null"}]}`, `"pairs":{"type":"array","items":{"type":"array","items":{"type":"string"}}}`,
		`"items":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"n":{"type":"integer"}},"required":["name"],"additionalProperties":false}}`, `"object":{"type":"object"}`, `"base":{"type":"string"}`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("the schema has no %s:\n%s", want, b)
		}
	}
}

// FuzzDecode feeds the decoding edge of REST and MCP: any bytes are taken or
// refused with a sentence, and what is taken comes out as encoding/json reads it.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{"id":7,"title":"T","must":null}`, `{"id":1e3,"title":"\u0000","must":"x","items":[{"name":"a"}],"pairs":[[]],"object":{}}`, `[`, `{"id":{}}`,
		`{"agent":12,"list":[null],"count":0.5}`, "\xff", strings.Repeat("[", 2000), `{"id":7,"title":"T","must":null,"key":"k","cost":1e999}`} {
		f.Add([]byte(seed), true, true)
		f.Add([]byte(seed), false, false)
	}
	s := shapeOf(reflect.TypeFor[sample]())
	f.Fuzz(func(t *testing.T, raw []byte, strict, nulls bool) {
		var got sample
		d := &decoder{what: "arguments", strict: strict, nulls: nulls}
		d.object(raw, s, reflect.ValueOf(&got).Elem(), "")
		if err := d.err("refused:"); err != nil {
			if msg := plan.MessageOf(err); !strings.Contains(msg, "\n- ") || len(msg) > 20_000 {
				t.Errorf("refused with %d characters: %s", len(msg), clip(msg))
			}
			return
		}
		if nulls || !json.Valid(raw) {
			if !json.Valid(raw) {
				t.Errorf("took broken JSON %q", raw)
			}
			return
		}
		var std struct {
			Title string   `json:"title"`
			List  []string `json:"list"`
			Cost  *float64 `json:"cost"`
		}
		if err := json.Unmarshal(raw, &std); err != nil {
			return // names in another case, which encoding/json takes and we do not
		}
		if strict && (std.Title != got.Title || std.Cost != nil && *std.Cost != got.Cost) {
			t.Errorf("%s: title %q, cost %v; encoding/json reads %q", raw, got.Title, got.Cost, std.Title)
		}
	})
}

func FuzzHost(f *testing.F) {
	for _, seed := range []string{"localhost", "localhost:8765", "[::1]:8765", "[::1", "evil.example", "127.0.0.1:8765", ":", "]:", "[]:1", "a:b:c"} {
		f.Add(seed)
	}
	h := newHosts(Options{Host: "127.0.0.1", Port: 8765, AllowedHosts: []string{"box.example"}})
	f.Fuzz(func(t *testing.T, host string) {
		if !h.allow(host) {
			return
		}
		name, port, ok := splitHost(strings.ToLower(host))
		if !ok || port != "" && port != "8765" || name != "box.example" && !isLoopback(name) {
			t.Errorf("%q is allowed", host)
		}
	})
}
