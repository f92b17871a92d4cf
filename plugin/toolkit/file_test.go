package toolkit

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadFile(t *testing.T) {
	var long strings.Builder
	for i := range 2500 {
		fmt.Fprintf(&long, "line %d\n", i+1)
	}
	k, _ := newKit(t, tree{
		"a.txt":     "one\ntwo\nthree\n",
		"noeol.txt": "one\ntwo",
		"crlf.txt":  "one\r\ntwo\r\n",
		"bom.txt":   "\uFEFFone\n",
		"empty.txt": "",
		"blank.txt": "\n\n",
		"bin.dat":   "PNG\x00\x01\x02",
		"latin.txt": "caf\xe9\n",
		"long.txt":  long.String(),
		"wide.txt":  strings.Repeat("ä", 2100) + "\nnext\n",
		"fat.txt":   strings.Repeat(strings.Repeat("x", 100)+"\n", 1000),
		"d/x":       "",
	})
	tests := []struct {
		name string
		args m
		want string
	}{
		{"whole", m{"path": "a.txt"}, "     1\tone\n     2\ttwo\n     3\tthree"},
		{"without an end of line", m{"path": "noeol.txt"}, "     1\tone\n     2\ttwo"},
		{"crlf", m{"path": "crlf.txt"}, "     1\tone\n     2\ttwo"},
		{"byte order mark", m{"path": "bom.txt"}, "     1\tone"},
		{"empty", m{"path": "empty.txt"}, "empty.txt is empty"},
		{"blank lines", m{"path": "blank.txt"}, "     1\t\n     2\t"},
		{"part", m{"path": "a.txt", "offset": 2, "limit": 1}, "     2\ttwo\n[more lines follow: read on with offset 3]"},
		{"the last part has no mark", m{"path": "a.txt", "offset": 3, "limit": 1}, "     3\tthree"},
		{"binary", m{"path": "bin.dat"}, "bin.dat is a binary file (6 bytes); its content is not shown"},
		{"other encoding", m{"path": "latin.txt"}, "     1\tcaf\uFFFD"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, wantOK(t, k, "read_file", tt.args)); diff != "" {
				t.Error(diff)
			}
		})
	}
	text := wantOK(t, k, "read_file", m{"path": "long.txt"})
	if !strings.HasSuffix(text, "  2000\tline 2000\n[more lines follow: read on with offset 2001]") {
		t.Errorf("long file ends with %q", text[len(text)-80:])
	}
	text = wantOK(t, k, "read_file", m{"path": "wide.txt"})
	if !strings.Contains(text, "ä… [line cut: 100 characters more]\n     2\tnext") {
		t.Errorf("long line: %q", text[len(text)-80:])
	}
	text = wantOK(t, k, "read_file", m{"path": "fat.txt"})
	if len(text) > maxResultBytes+100 || !strings.Contains(text, "read on with offset") {
		t.Errorf("big result: %d bytes, ends with %q", len(text), text[len(text)-80:])
	}
	wantErr(t, k, "read_file", m{"path": "a.txt", "offset": 9}, "a.txt has only 3 lines", "offset 9")
	wantErr(t, k, "read_file", m{"path": "d"}, "d is a directory", "list_dir")
}

func TestAPipeIsRefusedAndNotWaitedFor(t *testing.T) {
	k, dir := newKit(t, nil)
	must(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644))
	wantErr(t, k, "read_file", m{"path": "pipe"}, "not a regular file")
	wantErr(t, k, "write_file", m{"path": "pipe", "content": "x"}, "not a regular file")
	if text := wantOK(t, k, "grep", m{"pattern": "x"}); text != "nothing matches x" {
		t.Error(text)
	}
}

func TestWriteFile(t *testing.T) {
	k, dir := newKit(t, tree{"a.txt": "old\n", "d/x": "x"})
	if got, want := wantOK(t, k, "write_file", m{"path": "a.txt", "content": "new\nlines"}), "replaced a.txt (2 lines, 9 bytes)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := wantOK(t, k, "write_file", m{"path": "n/e/w.txt", "content": ""}), "created n/e/w.txt (0 lines, 0 bytes)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := content(t, dir, "a.txt"); got != "new\nlines" {
		t.Errorf("a.txt is %q", got)
	}
	wantErr(t, k, "write_file", m{"path": "d", "content": "x"}, "d is a directory")
	wantErr(t, k, "write_file", m{"path": ".", "content": "x"}, "the working directory itself")
	wantErr(t, k, "write_file", m{"path": "a.txt/b", "content": "x"}, "not a directory")
	names, err := filepath.Glob(filepath.Join(dir, "*", ".clearbox-*"))
	if more, _ := filepath.Glob(filepath.Join(dir, ".clearbox-*")); err != nil || len(names)+len(more) > 0 {
		t.Errorf("left behind: %v %v", names, more)
	}
}

func TestRewritingKeepsTheMode(t *testing.T) {
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	k, dir := newKit(t, tree{"run.sh": "echo\n", "secret": "s\n", "fixed": "f\n"})
	for name, mode := range map[string]os.FileMode{"run.sh": 0o775, "secret": 0o600, "fixed": 0o444} {
		must(t, os.Chmod(filepath.Join(dir, name), mode))
	}
	wantOK(t, k, "edit_file", m{"path": "run.sh", "old_string": "echo", "new_string": "true"})
	wantOK(t, k, "write_file", m{"path": "secret", "content": "t\n"})
	wantErr(t, k, "write_file", m{"path": "fixed", "content": "x"}, "read-only")
	wantOK(t, k, "write_file", m{"path": "new", "content": "x"})
	for name, want := range map[string]os.FileMode{"run.sh": 0o775, "secret": 0o600, "fixed": 0o444, "new": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		must(t, err)
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", name, info.Mode().Perm(), want)
		}
	}
}

func TestAReaderNeverSeesHalfAFile(t *testing.T) {
	a, b := strings.Repeat("a", 1<<16), strings.Repeat("b", 1<<16)
	k, dir := newKit(t, tree{"f": a})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 20 {
			call(t, k, "write_file", m{"path": "f", "content": []string{a, b}[i%2]})
		}
	}()
	for open := true; open; {
		select {
		case <-done:
			open = false
		default:
		}
		if got := content(t, dir, "f"); got != a && got != b {
			t.Fatalf("saw %d bytes that are neither", len(got))
		}
	}
}

func TestEditFile(t *testing.T) {
	tests := []struct {
		name, file, old, new string
		all                  bool
		want                 string
	}{
		{"one place", "a b c\n", "b", "x", false, "a x c\n"},
		{"all places", "b b\nb\n", "b", "x", true, "x x\nx\n"},
		{"removing", "a\nb\nc\n", "b\n", "", false, "a\nc\n"},
		{"overlapping matches go from the left", "aaa", "aa", "b", true, "ba"},
		{"crlf file, lf wanted", "a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", false, "x\r\ny\r\nz\r\nc\r\n"},
		{"crlf file, crlf wanted", "a\r\nb\r\n", "a\r\nb", "x\r\ny", false, "x\r\ny\r\n"},
		{"crlf file, new lines in the middle of one", "a(b)\r\nc\r\n", "(b)", "(\n  b\n)", false, "a(\r\n  b\r\n)\r\nc\r\n"},
		{"crlf file, a line end at the border", "a\r\nb\r\n", "a\n", "", false, "b\r\n"},
		{"crlf file, a line end alone", "a\r\nb\r\nc", "\nb", "", false, "a\r\nc"},
		{"lf file, crlf given", "a\nb\n", "a\r\nb", "x\r\ny", false, "x\ny\n"},
		{"mixed file keeps the ends of the place", "a\r\nb\r\nc\nd\n", "c\nd", "x\ny", false, "a\r\nb\r\nx\ny\n"},
		{"mixed file, the other place", "a\r\nb\r\nc\nd\ne\nf\n", "a\nb", "x\ny", false, "x\r\ny\r\nc\nd\ne\nf\n"},
		{"one line without end", "abc", "b", "1\r\n2", false, "a1\r\n2c"},
		{"byte order mark stays", "\uFEFFa\n", "a", "b", false, "\uFEFFb\n"},
		{"no text is special", "a $1 \\1 .*\n", "$1 \\1 .*", "%s ${x}", false, "a %s ${x}\n"},
		{"other encoding around it stays", "caf\xe9 b\n", "b", "x", false, "caf\xe9 x\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k, dir := newKit(t, tree{"f": tt.file})
			wantOK(t, k, "edit_file", m{"path": "f", "old_string": tt.old, "new_string": tt.new, "replace_all": tt.all})
			if diff := cmp.Diff(tt.want, content(t, dir, "f")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEditFileShowsWhatItDid(t *testing.T) {
	k, _ := newKit(t, tree{"f": "1\n2\n3\n4\n5\n6\n7\n"})
	want := "edited f: 1 replacement, line 4\n     2\t2\n     3\t3\n     4\tfour\n     5\tand\n     6\t5\n     7\t6"
	if diff := cmp.Diff(want, wantOK(t, k, "edit_file", m{"path": "f", "old_string": "4", "new_string": "four\nand"})); diff != "" {
		t.Error(diff)
	}
}

func TestEditsThatCannotBeMadeSayWhy(t *testing.T) {
	file := "func a() {\n\treturn 1\n}\nx\nx\n"
	k, dir := newKit(t, tree{"f.go": file, "bin": "a\x00b", "d/x": ""})
	wantErr(t, k, "edit_file", m{"path": "f.go", "old_string": "nothing", "new_string": "y"}, "old_string is not in f.go", "exactly")
	wantErr(t, k, "edit_file", m{"path": "f.go", "old_string": "{\n    return 1\n}", "new_string": "y"}, "Line 1 differs from it in spaces only")
	wantErr(t, k, "edit_file", m{"path": "f.go", "old_string": "x", "new_string": "y"}, "2 times (lines 4, 5)", "replace_all")
	wantErr(t, k, "edit_file", m{"path": "f.go", "old_string": "x", "new_string": "x"}, "the same")
	wantErr(t, k, "edit_file", m{"path": "f.go", "old_string": "", "new_string": "x"}, `"old_string" must not be empty`)
	wantErr(t, k, "edit_file", m{"path": "none", "old_string": "a", "new_string": "x"}, "no such file")
	wantErr(t, k, "edit_file", m{"path": "bin", "old_string": "a", "new_string": "x"}, "binary")
	wantErr(t, k, "edit_file", m{"path": "d", "old_string": "a", "new_string": "x"}, "directory")
	if got := content(t, dir, "f.go"); got != file {
		t.Errorf("a refused edit changed the file to %q", got)
	}
}

func FuzzEdit(f *testing.F) {
	f.Add("a\r\nb\nc", "\nb", "x\ny", true)
	f.Add("\r\n\r\n", "\n", "\r\n", false)
	f.Fuzz(func(t *testing.T, raw, old, new string, all bool) {
		e := newEdit(raw, old, new)
		if e.check("f", all) != nil {
			return
		}
		// Apart from line ends the edit is what strings.ReplaceAll does.
		want := strings.ReplaceAll(flatten(raw), flatten(old), flatten(new))
		if got := flatten(e.apply()); flatten(got) != flatten(want) {
			t.Errorf("edit of %q: got %q, want %q", raw, got, want)
		}
	})
}
