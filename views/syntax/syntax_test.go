package syntax

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// shown writes lines with their coloured parts in brackets.
func shown(file, text string) string {
	s := NewScanner(For(file))
	var out []string
	for _, line := range strings.Split(text, "\n") {
		b, at := "", 0
		for _, p := range s.Line(line) {
			b += line[at:p.Start] + "[" + string(p.Kind) + " " + line[p.Start:p.End] + "]"
			at = p.End
		}
		out = append(out, b+line[at:])
	}
	return strings.Join(out, "\n")
}

func TestPartsOfProgramsAreFound(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"a.go", "func f(x int) { return g(0x1F, 3.5) } // why", "[k func] [f f](x [k int]) { [k return] [f g]([n 0x1F], [n 3.5]) } [c // why]"},
		{"a.go", "a := `raw \\` + \"x\\\"y\" + '\\''", "a := [s `raw \\`] + [s \"x\\\"y\"] + [s '\\'']"},
		{"a.go", "x /* one\ntwo */ y", "x [c /* one]\n[c two */] y"},
		{"dir/a.py", "@cached\ndef f():\n    \"\"\"says\n    so\"\"\"\n    return None # end", "[t @cached]\n[k def] [f f]():\n    [s \"\"\"says]\n[s     so\"\"\"]\n    [k return] [k None] [c # end]"},
		{"a.rs", "fn f<'a>(x: &'a str) -> char { 'x' }", "[k fn] f<'a>(x: &'a [k str]) -> [k char] { [s 'x'] }"},
		{"a.sh", "if [ -n \"$X\" ]; then # x", "[k if] [ -n [s \"$X\"] ]; [k then] [c # x]"},
		{"a.yaml", "my-key: value # note\n- name: \"x\"", "[a my-key]: value [c # note]\n- [a name]: [s \"x\"]"},
		{"a.json", `{"a": "b", "n": [1, true]}`, `{[a "a"]: [s "b"], [a "n"]: [[n 1], [k true]]}`},
		{"a.sql", "SELECT name FROM t WHERE x = 'it''s' -- why", "[k SELECT] name [k FROM] t [k WHERE] x = [s 'it''s'] [c -- why]"},
		{"a.html", `<a href="/x" hidden>y</a><!-- z -->`, `[t <a] [a href]=[s "/x"] [a hidden][t >]y[t </a>][c <!-- z -->]`},
		{"a.md", "# Head\n- see `code` here\n```\nx", "[t # Head]\n[k -] see [s `code`] here\n[s ```]\n[s x]"},
		{"a.c", "#include <x.h>\nint größe = 1;", "[t #include] <x.h>\n[k int] größe = [n 1];"},
		{"Makefile", "all: build # x", "[a all]: build [c # x]"},
		{"notes.txt", "if x then 1", "if x then 1"},
	} {
		if got := shown(c.file, c.text); got != c.want {
			t.Errorf("%s: %s\ngot  %s\nwant %s", c.file, c.text, got, c.want)
		}
	}
}

func TestEveryLanguageOfTheTablesIsThere(t *testing.T) {
	for _, table := range []map[string]string{byName, byExt} {
		for name, l := range table {
			if languages[l] == nil {
				t.Errorf("%s: there is no language %q", name, l)
			}
		}
	}
}

func FuzzLine(f *testing.F) {
	f.Add("a.go", "x := \"\\\n`y`\n/*\n'")
	f.Add("a.html", "<a b='\n<!-- -->\n<>\n</")
	f.Add("a.md", "```\n`x\n# y\n> \xff")
	f.Add("a.yaml", "a-.b: 'x\n\t- é: 1.")
	f.Fuzz(func(t *testing.T, file, text string) {
		s := NewScanner(For(file))
		for _, line := range strings.Split(strings.ToValidUTF8(text, "\uFFFD"), "\n") {
			at := 0
			for _, p := range s.Line(line) {
				if p.Start < at || p.End <= p.Start || p.End > len(line) || !utf8.ValidString(line[p.Start:p.End]) {
					t.Fatalf("%q has the part %v", line, p)
				}
				at = p.End
			}
		}
	})
}
