package prompt

import (
	"flag"
	"path/filepath"
	"testing"

	"github.com/clearbox-go/clearbox/internal/goldenfile"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares a text with testdata/name.golden.
func golden(t *testing.T, name, got string) {
	t.Helper()
	goldenfile.Check(t, filepath.Join("testdata", name+".golden"), got, *update)
}

func TestNoGoldenFileIsLeftOver(t *testing.T) {
	files, err := filepath.Glob("testdata/*.golden")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, c := range taskCases() {
		want = append(want, c.name)
	}
	for _, c := range systemCases() {
		want = append(want, c.name)
	}
	for _, c := range reviewCases() {
		want = append(want, c.name)
	}
	want = append(want, "instructions", "instructions-tests", "subplan-result")
	known := map[string]bool{}
	for _, name := range want {
		known[filepath.Join("testdata", name+".golden")] = true
	}
	for _, f := range files {
		if !known[f] {
			t.Errorf("%s belongs to no test", f)
		}
	}
}
