package handlers

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/clearbox-go/clearbox/engine/plan"
)

func TestScratchGone(t *testing.T) {
	s := newStage(t)
	id := s.plan("a b:a")
	v := s.watchLive(t, fmt.Sprintf("plan:1@%d,node:1.2@%d", s.now(), s.now()))
	if err := s.engine.RemoveNode(context.Background(), plan.Ref{Plan: 1, Node: 2}); err != nil {
		t.Fatal(err)
	}
	v.until("drawer", "hidden")
	v.until("node-full", "This step is gone")
	seq := s.now()
	if err := s.engine.DeletePlan(context.Background(), id); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(8*time.Second, func() {
		t.Logf("seq before delete %d, now %d", seq, s.now())
		for _, r := range v.raw {
			if len(r) > 300 { r = r[:300] }
			t.Log(r)
		}
		t.Log(s.log.String())
		v.stop()
	})
	defer timer.Stop()
	for !strings.Contains(v.html["page"], "This plan is gone") {
		v.next()
	}
}
