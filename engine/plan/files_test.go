package plan

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestPathsWithOneMeaningHaveOneKey(t *testing.T) {
	for _, c := range []struct {
		key   string
		paths []string
	}{
		{"src/a.py", []string{"src/a.py", "Src/A.py", `src\a.py`, "./src//a.py/", "src/x/../a.py", `.\SRC\.\a.PY`, "x/../src/a.py"}},
		{"docs", []string{"docs", "docs/", "Docs//", "./docs/.", "docs/x/.."}},
		{"straße/grÖße.md", []string{"Straße/Größe.md", "STRAẞE/GRÖẞE.MD"}}, // capital sharp s
		{"strasse", []string{"STRASSE", "ſtrasse"}},                         // the long s is an s, the sharp s is not ss
		{"k.txt", []string{"K.txt", "k.txt", "\u212a.txt"}},                 // the Kelvin sign is a k
		{"Σ", []string{"Σ", "σ", "ς"}},
		{"Д/Ж", []string{"Д/Ж", "д/ж"}},
		{"İ", []string{"İ"}}, // has no partner in another case
		{"🎉 party/👩‍💻.md", []string{"🎉 party/👩‍💻.md", "🎉 PARTY/👩‍💻.MD"}},
		{"\u200fa\u202eb", []string{"\u200fA\u202eB"}}, // marks of direction are part of a name
		{"...", []string{"...", "./..."}},
		{"a..b/..c/d..", []string{"A..b/..c/d.."}},
		{" a", []string{" a", " A/"}},
		{strings.Repeat("a", 4096), []string{strings.Repeat("A", 4096)}},
	} {
		for _, p := range c.paths {
			if got, err := FileKey(p); err != nil || got != c.key {
				t.Errorf("key of %q = %q, %v; want %q", p, got, err, c.key)
			}
		}
	}
}

func TestPathsThatDifferHaveDifferentKeys(t *testing.T) {
	for _, c := range [][2]string{
		{"src/a.py", "src/a.pyc"}, {"src", "srcs"}, {"a b", "ab"}, {"é", "e"}, {"ß", "ss"}, {"İ", "i"}, {"ı", "i"},
		{"a\u200f", "a"}, {"a.", "a"}, {"Ω", "o"},
	} {
		a, errA := FileKey(c[0])
		b, errB := FileKey(c[1])
		if errA != nil || errB != nil || a == b {
			t.Errorf("keys of %q and %q: %q, %q (%v, %v); want two different ones", c[0], c[1], a, b, errA, errB)
		}
	}
}

func TestRefusedPaths(t *testing.T) {
	for _, c := range []struct{ path, says string }{
		{"/etc/passwd", "absolute"}, {`\etc`, "absolute"}, {"//x", "absolute"}, {`\\server\share\x`, "absolute"},
		{`C:\x.py`, "absolute"}, {"C:x.py", "absolute"}, {"c:/x", "absolute"}, {"z:", "absolute"},
		{"./C:/x", "absolute"}, {`a\..\c:x`, "absolute"},
		{"../x", "escapes"}, {"src/../../x", "escapes"}, {`a\..\..\a`, "escapes"}, {"..", "escapes"}, {"./..", "escapes"},
		{".", "itself"}, {"./", "itself"}, {"a/..", "itself"}, {`.\.`, "itself"}, {"x/.././y/..", "itself"},
		{"", "empty"}, {"  ", "empty"}, {"\t\n", "empty"}, {"./ ", "empty"}, {"a/../ ", "empty"},
		{"a\x00b", "NUL"}, {"a\xffb", "UTF-8"}, {strings.Repeat("a", 4097), "4096"},
	} {
		key, err := FileKey(c.path)
		if KindOf(err) != Invalid || key != "" {
			t.Errorf("key of %q = %q, %v; want it refused as invalid", c.path, key, err)
			continue
		}
		msg := err.Error()
		if !strings.Contains(msg, c.says) || !strings.HasPrefix(msg, "files: ") {
			t.Errorf("%q is refused with %q; want it to name the field files and say %q", c.path, msg, c.says)
		}
		if !strings.Contains(msg, "working directory") && !strings.Contains(msg, "limit") && !strings.Contains(msg, "UTF-8") {
			t.Errorf("%q is refused with %q, which does not mention the working directory", c.path, msg)
		}
	}
}

func TestFileList(t *testing.T) {
	got, err := ParseFiles([]string{"Shared.txt", "docs/", "Static/App.js", "README.md", "shared.TXT", `DOCS\`, "./docs"})
	want := []File{{"docs/", "docs"}, {"README.md", "readme.md"}, {"Shared.txt", "shared.txt"}, {"Static/App.js", "static/app.js"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("files (-want +got), error %v:\n%s", err, diff)
	}
	if got, err := ParseFiles(nil); err != nil || got == nil || len(got) != 0 {
		t.Errorf("no paths = %#v, %v; want an empty list that is not nil", got, err)
	}
}

func TestFileListNamesEveryFault(t *testing.T) {
	_, err := ParseFiles([]string{"ok.go", "../x", "/y", "."})
	if KindOf(err) != Invalid {
		t.Fatalf("error %v, want an invalid one", err)
	}
	for _, part := range []string{`"../x" escapes`, `"/y" is absolute`, `"." is the working directory itself`} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
	if _, err := ParseFiles([]string{"../x"}); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("one fault gives %q; want one line", err)
	}
}

func TestKeysConflictAtSegmentBoundariesOnly(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"src", "src", true}, {"src", "src/a.py", true}, {"src/a", "src/a/b/c", true},
		{"src", "srcfoo/a.py", false}, {"src", "src.py", false}, {"src/a", "src/ab", false}, {"a/b", "b", false},
		{"src/a.py", "src/b.py", false}, {"ä", "ä/b", true},
	} {
		if got := KeysConflict(c.a, c.b); got != c.want {
			t.Errorf("%q against %q: %v, want %v", c.a, c.b, got, c.want)
		}
		if got := KeysConflict(c.b, c.a); got != c.want {
			t.Errorf("%q against %q: %v, want %v as the other way round", c.b, c.a, got, c.want)
		}
	}
}

func TestSharedFiles(t *testing.T) {
	for _, c := range []struct {
		name         string
		mine, theirs []string
		want         []string
	}{
		{"nothing in common", []string{"a"}, []string{"b"}, []string{}},
		{"my spelling of an equal path", []string{"Src/A.py"}, []string{"src/a.PY"}, []string{"Src/A.py"}},
		{"their file in my folder", []string{"Src/"}, []string{"src/B.py"}, []string{"src/B.py"}},
		{"my file in their folder", []string{"Src/B.py"}, []string{"SRC"}, []string{"Src/B.py"}},
		{"each once, by key", []string{"src", "Src/b.py", "a"}, []string{"SRC/b.py", "A", "src/c"}, []string{"a", "Src/b.py", "src/c"}},
		{"mine wins whichever pair comes first", []string{"src", "src/B"}, []string{"SRC/b"}, []string{"src/B"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, SharedFiles(parse(t, c.mine...), parse(t, c.theirs...))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func parse(t *testing.T, paths ...string) []File {
	t.Helper()
	files, err := ParseFiles(paths)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// normal is the normal form of a path before its case is folded.
func normal(p string) string {
	var out []string
	for seg := range strings.SplitSeq(strings.ReplaceAll(p, `\`, "/"), "/") {
		if seg == ".." {
			out = out[:len(out)-1]
		} else if seg != "" && seg != "." {
			out = append(out, seg)
		}
	}
	return strings.Join(out, "/")
}

func FuzzFileKey(f *testing.F) {
	for _, p := range []string{"Src/A.py", `src\a.py`, "./src//a.py/", "src/x/../a.py", "../x", "C:x", "./ ", "./c:x", "ſK\u212a", "ẞß", "a\xff", "a/..b"} {
		f.Add(p, strings.ToUpper(p))
		f.Add(p, "x/../"+p)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		keyA, errA := FileKey(a)
		if errA != nil {
			if KindOf(errA) != Invalid {
				t.Fatalf("%q is refused as %s", a, KindOf(errA))
			}
			return
		}
		if again, err := FileKey(keyA); err != nil || again != keyA {
			t.Fatalf("key of %q is %q, and the key of that %q, %v", a, keyA, again, err)
		}
		segs := strings.Split(keyA, "/")
		if slices.Contains(segs, "..") || slices.Contains(segs, ".") || slices.Contains(segs, "") || !utf8.ValidString(keyA) {
			t.Fatalf("key of %q has an odd segment: %q", a, keyA)
		}
		if !strings.EqualFold(keyA, normal(a)) {
			t.Fatalf("key %q of %q differs from the path by more than case", keyA, a)
		}
		keyB, errB := FileKey(b)
		if errB == nil && (keyA == keyB) != strings.EqualFold(normal(a), normal(b)) {
			t.Fatalf("%q and %q have keys %q and %q, but equal without case is %v", a, b, keyA, keyB, keyA != keyB)
		}
	})
}
