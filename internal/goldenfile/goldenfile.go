// Package goldenfile compares what tests produce with files that people have read
// and kept.
package goldenfile

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Check fails when got differs from a file. With update the file is written first,
// in a folder that is made when there is none.
func Check(tb testing.TB, file, got string, update bool) {
	tb.Helper()
	if update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		tb.Errorf("%s (-want +got; run with -update when it is meant):\n%s", file, diff)
	}
}

// CheckJSON does so with a JSON text, which the file holds indented and in its order.
func CheckJSON(tb testing.TB, file string, got []byte, update bool) {
	tb.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, got, "", "  "); err != nil {
		tb.Fatal(err)
	}
	b.WriteByte('\n')
	Check(tb, file, b.String(), update)
}

// Indented writes a JSON value for people: indented, its keys sorted.
func Indented(tb testing.TB, raw []byte) string {
	tb.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		tb.Fatal(err)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		tb.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}
