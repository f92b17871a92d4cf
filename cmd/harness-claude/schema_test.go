package main

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The form of the agents page is tested with what the harnesses really say.
func TestTheSettingsAreThoseThatTheFormIsTestedWith(t *testing.T) {
	const file = "../../views/testdata/settings/claude.json"
	schema, err := catalogue().Schema()
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := json.Indent(&got, schema, "", "  "); err != nil {
		t.Fatal(err)
	}
	got.WriteByte('\n')
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("%s (run with -update when this is right):\n%s", file, diff)
	}
}
