package main

import "strings"

// counter adds up the tokens of a run. Messages of the session itself are counted as
// they come; those of sub-agents are only in the totals at the end.
type counter struct {
	begun   map[string]usage // by the tool use of the sub-agent: the message that is on its way
	in, out int64            // told so far
}

// start notes what the beginning of a message says.
func (c *counter) start(parent string, u *usage) {
	if c.begun == nil {
		c.begun = map[string]usage{}
	}
	c.begun[parent] = usage{}
	c.update(parent, u)
}

// update takes over what the message now says: the last value counts.
func (c *counter) update(parent string, u *usage) {
	old, ok := c.begun[parent]
	if !ok || u == nil {
		return
	}
	for _, f := range []struct{ to, from **int64 }{{&old.In, &u.In}, {&old.CacheWrite, &u.CacheWrite}, {&old.CacheRead, &u.CacheRead}, {&old.Out, &u.Out}} {
		if *f.from != nil {
			*f.to = *f.from
		}
	}
	c.begun[parent] = old
}

// stop returns the tokens of a message that is complete.
func (c *counter) stop(parent string) (in, out int64, ok bool) {
	u, ok := c.begun[parent]
	if !ok {
		return 0, 0, false
	}
	delete(c.begun, parent)
	in, out = value(u.In)+value(u.CacheWrite)+value(u.CacheRead), value(u.Out)
	return in, out, c.add(in, out)
}

// add notes tokens that are told and reports whether there are any.
func (c *counter) add(in, out int64) bool {
	c.in, c.out = c.in+in, c.out+out
	return in+out > 0
}

// rest returns what the totals of a result have beyond what was told.
func (c *counter) rest(r *resultLine) (in, out int64, ok bool) {
	totalIn, totalOut := r.tokens()
	in, out = max(totalIn-c.in, 0), max(totalOut-c.out, 0)
	return in, out, c.add(in, out)
}

func value(n *int64) int64 {
	if n == nil {
		return 0
	}
	return max(*n, 0)
}

// spent is what this run used, by model: totals go on over the runs of one session in
// the versions that also say what came since the last result.
func (r *resultLine) spent() map[string]modelUsage {
	if r.Since != nil {
		return r.Since
	}
	return r.Models
}

func (r *resultLine) tokens() (in, out int64) {
	for _, m := range r.spent() {
		in, out = in+m.In+m.CacheRead+m.CacheWrite, out+m.Out
	}
	return in, out
}

// cost is what the run cost in US dollars, nil when that is not known: the program
// makes up a price for models that it does not know.
func (r *resultLine) cost() *float64 {
	for name, m := range r.spent() {
		if m.Basis == "unknown" || !strings.Contains(name, "claude") {
			return nil
		}
	}
	if r.Since == nil {
		return r.Cost
	}
	var sum float64
	for _, m := range r.Since {
		sum += m.Cost
	}
	return &sum
}

// merge takes over what an earlier result of the same process counted since the one
// before it.
func (r *resultLine) merge(earlier *resultLine) {
	if earlier == nil || r.Since == nil {
		return
	}
	for name, m := range earlier.Since {
		sum := r.Since[name]
		sum.In, sum.Out, sum.Cost = sum.In+m.In, sum.Out+m.Out, sum.Cost+m.Cost
		sum.CacheRead, sum.CacheWrite = sum.CacheRead+m.CacheRead, sum.CacheWrite+m.CacheWrite
		if sum.Basis == "" {
			sum.Basis = m.Basis
		}
		r.Since[name] = sum
	}
}
