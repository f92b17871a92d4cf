package plan

// Waiting counts the ready steps of started plans by what they wait for, and the
// reviews that wait. It looks at each of them.
func (b *Board) Waiting() (steps map[Phase]int, reviews int) {
	steps = map[Phase]int{}
	for r, e := range b.nodes {
		if e.facts.State != Ready || e.taken || !b.isStarted(e) {
			continue
		}
		steps[b.Held(r).Phase]++
	}
	return steps, b.queue.Len()
}

func (b *Board) isStarted(e *entry) bool {
	t := b.treeOf(e)
	return t != nil && t.facts.Started
}
