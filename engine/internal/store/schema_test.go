package store

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write schema.sql anew")

// schema.sql shows the whole database in one file; the migrations make it.
func TestSchemaFileIsWhatTheMigrationsMake(t *testing.T) {
	s := open(t, Options{})
	got, err := s.Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("schema.sql", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("schema.sql (-file +database; run with -update when it is meant):\n%s", diff)
	}
}
