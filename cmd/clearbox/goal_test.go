package main

import "testing"

func TestAPlanIsMadeFromAGoalInATerminal(t *testing.T) {
	t.Parallel()
	r := newRig(t, "--mock", "--mock-speed", "100")
	d := r.desk()
	d.fine([]string{"plan", "from-goal", "Add a health endpoint", "--wait"}, "Plan 1 is being planned: "+r.url()+"/plans/1",
		"waits for approval", "1.1  ", "clearbox plan approve 1 --start", "clearbox plan revise 1 FEEDBACK")
	d.fine([]string{"plan", "list"}, "to approve")
	checkRefused(t, d.run("plan", "approve", "1"), 2, "no terminal", "--revision 1")
	checkRefused(t, d.run("plan", "approve", "1", "--revision", "7"), 1, "look at revision 1")
	d.fine([]string{"plan", "revise", "1", "tests first", "--wait"}, "goes back to its planner", "waits for approval")
	checkRefused(t, d.run("plan", "approve", "1", "--revision", "1"), 1, "look at revision 2")
	d.fine([]string{"plan", "approve", "1", "--revision", "2"}, "Approved revision 2 of plan 1", "clearbox plan start 1")
	checkRefused(t, d.run("plan", "approve", "1"), 1, "does not wait for approval")

	o := d.feed("Another goal\n", "plan", "from-goal", "-", "--json", "--wait")
	checkFine(t, o, `"plan_id": 2`)
	d.fine([]string{"plan", "reject", "2", "--reason", "we buy it"}, "Rejected plan 2")
	checkRefused(t, d.run("plan", "revise", "2", "again"), 1, "cannot be planned again")
	var page struct{ Revisions []struct{ Reason string } }
	if r.get("/api/plans/2/revisions", &page); len(page.Revisions) != 1 || page.Revisions[0].Reason != "we buy it" {
		t.Errorf("the reason is not kept: %+v", page)
	}
}

func TestGoalsThatCannotBePlanned(t *testing.T) {
	t.Parallel()
	r := newRig(t, "--mock")
	d := r.desk()
	checkRefused(t, d.run("plan", "from-goal"), 2, "GOAL")
	checkRefused(t, d.run("plan", "from-goal", " "), 2, "GOAL is empty")
	checkRefused(t, d.run("plan", "from-goal", "x", "--dir", "/no/such/folder"), 1, "does not exist")
	checkRefused(t, d.run("plan", "from-goal", "x", "--agent", "nobody"), 1, "nobody")
	checkRefused(t, d.run("plan", "approve", "9", "--revision", "1"), 1, "no plan 9")
	checkRefused(t, d.run("plan", "approve", "9", "--revision", "-1"), 2, "--revision")
	checkRefused(t, d.run("plan", "approve", "x"), 2, "x")
	checkRefused(t, d.run("plan", "revise", "9"), 2, "FEEDBACK")
	checkRefused(t, d.run("plan", "reject", "9"), 1, "no plan 9")
	for _, name := range []string{"from-goal", "approve", "revise", "reject"} {
		d.fine([]string{"plan", name, "--help"}, "examples:", "clearbox plan "+name)
	}
	d.fine([]string{"__complete", "--", "plan", "appr"}, "approve\t")
	d.fine([]string{"__complete", "--", "plan", "from-goal", "x", "--d"}, "--dir\t")
}
