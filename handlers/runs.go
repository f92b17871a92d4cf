package handlers

import (
	"context"
	"strings"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// How much of a run's transcript one answer holds.
const (
	usualPage = 200
	maxPage   = 1000
)

type runsView struct {
	Runs []runView `json:"runs"`
}

func listRuns(e *engine.Engine, ctx context.Context, in nodeIn) (runsView, error) {
	list, err := e.Runs(ctx, in.ref())
	if err != nil {
		return runsView{}, err
	}
	out := runsView{make([]runView, len(list))}
	for i := range list {
		out.Runs[i] = runViewOf(&list[i])
	}
	return out, nil
}

type oneRunIn struct {
	nodeIn
	Number int `json:"-" param:"run" jsonschema:"The number of the run."`
}

func getRun(e *engine.Engine, ctx context.Context, in oneRunIn) (runPage, error) {
	r, err := e.RunOf(ctx, in.ref(), in.Number)
	if err != nil {
		return runPage{}, err
	}
	return runPage{runViewOf(r), r.Prompt, r.System}, nil
}

type runEventsIn struct {
	oneRunIn
	Before int64 `json:"-" query:"before" jsonschema:"Only events before this one."`
	After  int64 `json:"-" query:"after" jsonschema:"Only events after this one, the oldest first."`
	Limit  int   `json:"-" query:"limit" jsonschema:"At most so many: 200 when left out, never more than 1000."`
}

func runEvents(e *engine.Engine, ctx context.Context, in runEventsIn) (transcript, error) {
	if in.Limit < 0 || in.Before < 0 || in.After < 0 {
		return transcript{}, plan.Errorf(plan.Invalid, "before, after and limit must be positive")
	}
	limit := in.Limit
	if limit == 0 {
		limit = usualPage
	}
	limit = min(limit, maxPage)
	r, err := e.RunOf(ctx, in.ref(), in.Number)
	if err != nil {
		return transcript{}, err
	}
	list, err := e.RunEvents(ctx, r, in.After, in.Before, limit+1)
	if err != nil {
		return transcript{}, err
	}
	if len(list) <= limit {
		return transcript{list, false}, nil
	}
	if in.After > 0 {
		return transcript{list[:limit], true}, nil
	}
	return transcript{list[1:], true}, nil
}

func listQuestions(e *engine.Engine, ctx context.Context, _ none) ([]questionView, error) {
	list, err := e.Questions(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]questionView, len(list))
	for i := range list {
		out[i] = questionViewOf(&list[i])
	}
	return out, nil
}

type answerIn struct {
	ID      string `json:"-" param:"question_id" jsonschema:"The question, as the list of them names it."`
	Answer  string `json:"answer" jsonschema:"allow or deny."`
	Message string `json:"message,omitempty" jsonschema:"Said to the agent, for example why not."`
}

func answerQuestion(e *engine.Engine, ctx context.Context, in answerIn) (questionView, error) {
	run, id, _ := strings.Cut(in.ID, ".") // the form that questionView gives out
	q, err := e.AnswerQuestion(ctx, plan.RunID(run), id, in.Answer, in.Message)
	if err != nil {
		return questionView{}, err
	}
	q.Answer, q.Message = in.Answer, in.Message
	v := questionViewOf(q)
	v.Delivered = e.Attached(q.RunID)
	return v, nil
}
