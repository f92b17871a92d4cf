package stdio

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// split gives a text to Lines in pieces of a size.
func split(text string, size, most int) (lines []string) {
	s := &Lines{Max: most,
		Each:    func(b []byte) { lines = append(lines, string(b)) },
		TooLong: func(n int64) { lines = append(lines, fmt.Sprintf("<%d>", n)) }}
	for len(text) > 0 {
		n := min(size, len(text))
		_, _ = s.Write([]byte(text[:n]))
		text = text[n:]
	}
	s.End()
	return lines
}

func TestLinesAreCut(t *testing.T) {
	tests := []struct {
		text string
		want []string
	}{
		{"", nil},
		{"one\ntwo\n", []string{"one", "two"}},
		{"one\n\n \r\nlast", []string{"one", "last"}},
		{"1234567890\n", []string{"1234567890"}},
		{"12345678901\nnext\n", []string{"<11>", "next"}},
		{strings.Repeat("x", 1000), []string{"<1000>"}},
		{"ok\n" + strings.Repeat("x", 1000) + "\nok\n", []string{"ok", "<1000>", "ok"}},
	}
	for _, tt := range tests {
		for _, size := range []int{1, 3, 7, 4096} {
			if d := cmp.Diff(tt.want, split(tt.text, size, 10)); d != "" {
				t.Errorf("%.40q in pieces of %d: %s", tt.text, size, d)
			}
		}
	}
}

func FuzzLines(f *testing.F) {
	f.Add("one\ntwo\n", 3, 5)
	f.Add(strings.Repeat("x", 100)+"\ny", 7, 10)
	f.Fuzz(func(t *testing.T, text string, size, most int) {
		size, most = max(size, 1), max(most, 1)
		var want []string
		for _, line := range strings.Split(text, "\n") {
			switch {
			case len(line) > most:
				want = append(want, fmt.Sprintf("<%d>", len(line)))
			case strings.TrimSpace(line) != "" && len(bytes.TrimSpace([]byte(line))) > 0:
				want = append(want, line)
			}
		}
		if d := cmp.Diff(want, split(text, size, most)); d != "" {
			t.Error(d)
		}
	})
}

func TestInputIsQueued(t *testing.T) {
	in := NewInput()
	for i := range 1000 { // nobody reads yet
		must(t, in.Send(map[string]any{"n": i, "text": strings.Repeat("x", 1000)}))
	}
	in.Close()
	must(t, in.Send(map[string]any{"n": "too late"}))
	raw, err := io.ReadAll(in)
	must(t, err)
	lines := strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
	if len(lines) != 1000 || !json.Valid([]byte(lines[999])) || !strings.Contains(lines[999], `"n":999`) {
		t.Errorf("%d lines, the last %.100s", len(lines), lines[len(lines)-1])
	}
	if err := in.Send(func() {}); err == nil {
		t.Error("what is no JSON was sent")
	}
}

func TestReadingInputWaits(t *testing.T) {
	in := NewInput()
	got := make(chan string)
	go func() {
		raw, _ := io.ReadAll(in)
		got <- string(raw)
	}()
	must(t, in.Send("late"))
	in.Close()
	if s := <-got; s != "\"late\"\n" {
		t.Errorf("got %q", s)
	}
}

func TestTheTailIsKept(t *testing.T) {
	var b Tail
	for i := range 10_000 {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	fmt.Fprint(&b, strings.Repeat("y", 3*KeepTail), "\xff the end\n")
	if s := b.String(); len(s) > KeepTail+10 || !strings.HasSuffix(s, "\uFFFD the end") {
		t.Errorf("%d bytes, ending in %q", len(s), s[len(s)-20:])
	}
}
