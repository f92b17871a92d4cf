package main

import (
	"testing"

	"github.com/clearbox-go/clearbox/internal/goldenfile"
)

// The form of the agents page is tested with what the harnesses really say.
func TestTheSettingsAreThoseThatTheFormIsTestedWith(t *testing.T) {
	schema, err := catalogue().Schema()
	if err != nil {
		t.Fatal(err)
	}
	goldenfile.CheckJSON(t, "../../views/testdata/settings/claude.json", schema, *update)
}
