package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/clearbox-go/clearbox/internal/scriptedmodel"
)

func output(t *testing.T, args ...string) (int, string, string) {
	t.Helper()
	var out, errs bytes.Buffer
	code := run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestScriptsArePrintedAsBlocks(t *testing.T) {
	code, out, errs := output(t, "--print-script", "blocks")
	if code != 0 {
		t.Fatal(errs)
	}
	var all map[string][]struct{ Blocks []map[string]any }
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		t.Fatal(err)
	}
	first := all["parse"][1].Blocks
	if len(all) != 7 || len(first) != 2 || first[0]["text"] == "" || first[1]["tool"] != "edit_file" || first[1]["input"].(map[string]any)["path"] != "duration.go" {
		t.Errorf("got %v", first)
	}
}

func TestEachStepGetsItsMark(t *testing.T) {
	code, out, _ := output(t, "--print-marks", "<%s>")
	if code != 0 || !strings.Contains(out, `"money": "<money>"`) || strings.Count(out, "<") != 7 {
		t.Errorf("exit code %d: %s", code, out)
	}
}

func TestWhatBlocksCannotSayIsRefused(t *testing.T) {
	one := 1
	for _, turn := range []scriptedmodel.Turn{{Status: 500}, {Text: "{{result 0}}"}, {CutAfter: &one}, {Finish: "length"}, {Refusal: "no"}} {
		if _, err := blocks([]scriptedmodel.Script{{Name: "s", Turns: []scriptedmodel.Turn{turn}}}); err == nil || !strings.Contains(err.Error(), "script s, turn 1") {
			t.Errorf("%+v: %v", turn, err)
		}
	}
}

func TestBadCommandLines(t *testing.T) {
	for want, args := range map[string][]string{"must be blocks": {"--print-script", "yaml"}, "not defined": {"--fast"}, "start scripted model": {"--addr", "nowhere:x"}} {
		if code, _, errs := output(t, args...); code == 0 || !strings.Contains(errs, want) {
			t.Errorf("%v: exit code %d, %s", args, code, errs)
		}
	}
}

func TestItServesUntilItIsStopped(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	r, w := io.Pipe()
	ended := make(chan int)
	go func() { ended <- run(ctx, nil, w, io.Discard) }()
	line := make([]byte, 100)
	n, err := r.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Get(strings.TrimSpace(string(line[:n])) + "/models")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	if !strings.Contains(string(body), "scripted-model") {
		t.Errorf("models: %s", body)
	}
	stop()
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d", code)
	}
}
