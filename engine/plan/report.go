package plan

// Report is all that is known of a plan and what is nested in it at one moment, to
// be kept or handed on. Its texts are free of the keys and tokens that are known.
type Report struct {
	Snapshot *Snapshot
	Plan     PlanID
	Steps    map[Ref]*StepReport // node 0 is for reviews of a plan
}

// StepReport is what happened at a step.
type StepReport struct {
	Runs       []Run
	Diffs      []FileDiff // of its last run
	Judgements []Review
	Events     []Event // the newest of its transcript, the oldest of them first
	Older      bool    // there are entries before them
	LeftOut    bool    // the report is full: there is no transcript
}
