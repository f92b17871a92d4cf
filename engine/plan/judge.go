package plan

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Judgement is what a judge found of one attempt at a step, criterion by criterion.
type Judgement struct {
	Criteria FindingList `json:"criteria"`
	Passed   bool        `json:"passed"`
	Reason   string      `json:"reason"`
}

// Finding is the verdict on one criterion.
type Finding struct {
	Number   int    `json:"number"` // 1, 2, 3 … in the order of the step's criteria
	Verdict  string `json:"verdict"`
	Evidence string `json:"evidence"`
}

// FindingList is stored as JSON.
type FindingList []Finding

// Scan reads the stored form.
func (l *FindingList) Scan(v any) error {
	text, ok := v.(string)
	if !ok {
		return fmt.Errorf("a list of findings is no %T", v)
	}
	*l = nil
	if text == "" || text == "[]" {
		return nil
	}
	return json.Unmarshal([]byte(text), l)
}

// The verdicts on a criterion.
const (
	Met     = "met"
	Unmet   = "unmet"
	Unknown = "unknown"
)

// ParseJudgement reads a judge's reply: the last JSON object in it. A reply that
// does not parse, leaves a criterion out or contradicts itself is an error that
// says how, in words for the judge.
func ParseJudgement(reply string, criteria int) (Judgement, error) {
	var j Judgement
	object := LastObject(reply)
	if object == "" {
		return j, fmt.Errorf("the reply has no JSON object")
	}
	var raw struct {
		Criteria []Finding `json:"criteria"`
		Verdict  string    `json:"verdict"`
		Reason   string    `json:"reason"`
	}
	if err := json.Unmarshal([]byte(object), &raw); err != nil {
		return j, fmt.Errorf("the JSON object does not parse: %w", err)
	}
	j = Judgement{Criteria: raw.Criteria, Reason: strings.TrimSpace(raw.Reason)}
	switch strings.ToLower(strings.TrimSpace(raw.Verdict)) {
	case "pass", "passed":
		j.Passed = true
	case "fail", "failed":
	default:
		return j, fmt.Errorf("verdict is %q; it must be pass or fail", raw.Verdict)
	}
	return j, j.check(criteria)
}

// check refuses findings that are incomplete or do not fit the verdict.
func (j *Judgement) check(criteria int) error {
	seen := map[int]bool{}
	unmet := 0
	for i := range j.Criteria {
		f := &j.Criteria[i]
		f.Verdict = strings.ToLower(strings.TrimSpace(f.Verdict))
		switch {
		case f.Number < 1 || f.Number > criteria:
			return fmt.Errorf("there is no criterion %d; they are numbered 1 to %d", f.Number, criteria)
		case seen[f.Number]:
			return fmt.Errorf("criterion %d is judged twice", f.Number)
		case f.Verdict != Met && f.Verdict != Unmet && f.Verdict != Unknown:
			return fmt.Errorf("the verdict on criterion %d is %q; it must be met, unmet or unknown", f.Number, f.Verdict)
		}
		seen[f.Number] = true
		if f.Verdict != Met {
			unmet++
		}
	}
	for n := 1; n <= criteria; n++ {
		if !seen[n] {
			return fmt.Errorf("criterion %d is not judged", n)
		}
	}
	switch {
	case j.Passed && unmet > 0:
		return fmt.Errorf("the verdict is pass, and %d of the criteria are not met", unmet)
	case !j.Passed && unmet == 0 && j.Reason == "":
		return fmt.Errorf("the verdict is fail, and neither a criterion nor the reason says why")
	}
	return nil
}

// LastObject returns the last JSON object at the top level of a text, "" when
// there is none: models talk before they answer.
func LastObject(text string) string {
	last := ""
	for at := 0; at < len(text); {
		i := strings.IndexByte(text[at:], '{')
		if i < 0 {
			break
		}
		d := json.NewDecoder(strings.NewReader(text[at+i:]))
		var raw json.RawMessage
		if d.Decode(&raw) != nil {
			at += i + 1
			continue
		}
		last = string(raw)
		at += i + int(d.InputOffset())
	}
	return last
}
