package main

import (
	"strings"
	"testing"
	"time"
)

func TestDelayIsFromTheEventsMomentToNow(t *testing.T) {
	at := time.UnixMicro(1_700_000_000_250_000)
	if ms, ok := delayOf([]byte(`,"event":{"id":7,"ts":1700000000.2,"kind":"text"}`), at); !ok || ms < 49.9 || ms > 50.1 {
		t.Errorf("got %v ms, %t", ms, ok)
	}
	for _, entry := range []string{``, `"ts":`, `"ts":x,`, `"id":1`} {
		if _, ok := delayOf([]byte(entry), at); ok {
			t.Errorf("%q has a moment", entry)
		}
	}
}

func TestTalkersEmitThreeThousandASecond(t *testing.T) {
	p := talk(2, "/x")
	if n := strings.Count(p.Nodes[0].Description, "flood 10\n"); len(p.Nodes)*n*talkBurst != 2*3000 {
		t.Errorf("%d steps of %d bursts", len(p.Nodes), n)
	}
}
