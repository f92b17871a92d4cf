package shadow

import (
	"bytes"
	"strings"
	"testing"
)

// The parsers meet what a hostile tree holds: they may refuse it, and that is all.

func FuzzParseIndex(f *testing.F) {
	files := []copied{{path: "a", mode: modeFile}, {path: "a/b", mode: modeProgram}}
	f.Add(encodeGitIndex(files))
	f.Add([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := parseIndex(data)
		if err == nil && len(list) > len(data) {
			t.Errorf("%d paths from %d bytes", len(list), len(data))
		}
	})
}

func FuzzParseRules(f *testing.F) {
	for _, s := range []string{"*.o\n!a\n/b/\n", "a/**/b", "[[:alpha:]", "**foo\\", "[a-", strings.Repeat("*a", 50)} {
		f.Add(s, "a/b/"+strings.Repeat("a", 100))
	}
	f.Fuzz(func(t *testing.T, rules, path string) {
		c := &chain{rules: parseRules([]byte(rules))}
		last := &chain{rules: parseRules([]byte(rules + "\n*\n"))}
		c.ignores(path, false)
		if name := path[strings.LastIndexByte(path, '/')+1:]; name != "" && !last.ignores(path, true) {
			t.Error("the last rule does not win")
		}
	})
}

func FuzzSplitPatch(f *testing.F) {
	f.Add([]byte("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var got bytes.Buffer
		list := make([]change, 3)
		err := splitPatch(bytes.NewReader(data), list, func(l patchLine) error {
			if l.change < 0 || l.change >= len(list) {
				t.Fatalf("a line of change %d", l.change)
			}
			got.Write(l.text)
			return nil
		})
		if err == nil && !bytes.HasSuffix(data, got.Bytes()) {
			t.Error("the lines are not those of the patch")
		}
	})
}

func FuzzCacheFile(f *testing.F) {
	store, err := openObjects(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(appendNode(nil, &node{kids: []*entry{{name: "a", dir: &node{}}, {name: "b", why: "w"}}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		d := decoder{b: data, store: store, unknown: &chain{}}
		d.node()
	})
}

func FuzzDisplay(f *testing.F) {
	f.Add("a", "\"a\"")
	f.Add("a\xff", "\"a\\377\"")
	f.Fuzz(func(t *testing.T, a, b string) {
		if a != b && display(a) == display(b) {
			t.Errorf("%q and %q are shown alike", a, b)
		}
	})
}
