package views

import (
	"testing"

	"github.com/clearbox-go/clearbox/engine/plan"
)

func TestLooks(t *testing.T) {
	for name, c := range map[string]struct {
		node plan.Node
		asks bool
		want Look
	}{
		"a state as it is":              {plan.Node{State: plan.Running}, false, lookRunning},
		"a person's step that is ready": {plan.Node{State: plan.Ready, Kind: plan.KindUser}, false, lookYou},
		"a person's step that waits":    {plan.Node{State: plan.Pending, Kind: plan.KindUser}, false, lookPending},
		"an agent that asks":            {plan.Node{State: plan.Running}, true, lookYou},
		"a run that needs a person":     {plan.Node{State: plan.Running, Phase: plan.PhaseNeedsPerson}, false, lookYou},
		"an unknown state":              {plan.Node{}, false, lookPending},
	} {
		if got := lookOf(&c.node, c.asks); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func TestEveryLookHasAShapeOfItsOwn(t *testing.T) {
	seen := map[string]string{}
	for _, l := range []Look{lookPending, lookReady, lookRunning, lookDone, lookFailed, lookSkipped, lookYou, lookStopped} {
		shape := glyphs[l.Name]
		if shape == "" {
			t.Errorf("%s has no shape", l.Name)
		}
		if other := seen[shape]; other != "" {
			t.Errorf("%s looks like %s", l.Name, other)
		}
		seen[shape] = l.Name
	}
}

func TestPlanLooks(t *testing.T) {
	for _, c := range []struct {
		status         plan.Status
		started, begun bool
		want           Look
	}{
		{plan.StatusEmpty, true, true, lookEmpty},
		{plan.StatusPending, false, false, lookPending},
		{plan.StatusPending, true, true, lookRunning},
		{plan.StatusRunning, true, true, lookRunning},
		{plan.StatusRunning, false, true, lookStopped},
		{plan.StatusFailed, true, true, lookFailed},
		{plan.StatusDone, false, true, lookDone},
	} {
		if got := planLook(c.status, c.started, c.begun); got != c.want {
			t.Errorf("%+v: got %v", c, got)
		}
	}
}
