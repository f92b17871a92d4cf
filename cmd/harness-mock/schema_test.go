package main

import (
	"flag"
	"testing"

	"github.com/clearbox-go/clearbox/internal/goldenfile"
)

var update = flag.Bool("update", false, "write the golden files anew")

// The form of the agents page is tested with what the harnesses really say.
func TestTheSettingsAreThoseThatTheFormIsTestedWith(t *testing.T) {
	goldenfile.CheckJSON(t, "../../views/testdata/settings/mock.json", []byte(settings), *update)
}
