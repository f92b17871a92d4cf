package handlers

import (
	"context"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
)

func listAgents(e *engine.Engine, ctx context.Context, _ none) ([]profileView, error) {
	list, err := e.Profiles(ctx)
	if err != nil {
		return nil, err
	}
	limits, err := limitsOf(e, ctx)
	if err != nil {
		return nil, err
	}
	out := make([]profileView, len(list))
	for i := range list {
		out[i] = profileViewOf(e.Server(), &list[i], limits)
	}
	return out, nil
}

// limitsOf returns the limits of providers by profile.
func limitsOf(e *engine.Engine, ctx context.Context) (map[plan.ProfileID]plan.Limit, error) {
	list, err := e.Limits(ctx)
	if err != nil {
		return nil, err
	}
	all := make(map[plan.ProfileID]plan.Limit, len(list))
	for _, l := range list {
		all[l.Profile] = l
	}
	return all, nil
}

// createAgentIn is a new profile; its name and harness are required.
type createAgentIn struct {
	Name    string `json:"name" jsonschema:"A name of its own; not digits alone."`
	Harness string `json:"harness" jsonschema:"The agent runtime, see GET /api/harnesses."`
	engine.ProfileFields
}

func (in *createAgentIn) fields() engine.ProfileFields {
	f := in.ProfileFields
	f.Name, f.Harness = &in.Name, &in.Harness
	return f
}

func createAgent(e *engine.Engine, ctx context.Context, in createAgentIn) (profileView, error) {
	p, err := e.CreateProfile(ctx, in.fields())
	if err != nil {
		return profileView{}, err
	}
	return profileViewOf(e.Server(), p, nil), nil
}

type profileIn struct {
	ID plan.ProfileID `json:"-" param:"agent_id" jsonschema:"The agent profile."`
}

type updateAgentIn struct {
	profileIn
	engine.ProfileFields
}

func updateAgent(e *engine.Engine, ctx context.Context, in updateAgentIn) (profileView, error) {
	p, err := e.UpdateProfile(ctx, in.ID, in.ProfileFields)
	if err != nil {
		return profileView{}, err
	}
	limits, err := limitsOf(e, ctx)
	return profileViewOf(e.Server(), p, limits), err
}

func deleteAgent(e *engine.Engine, ctx context.Context, in profileIn) (said, error) {
	return said{"deleted", "deleted"}, e.DeleteProfile(ctx, in.ID)
}

func listHarnesses(e *engine.Engine, _ context.Context, _ none) ([]harnessView, error) {
	return harnessViews(e.Harnesses()), nil
}

func rescanHarnesses(e *engine.Engine, ctx context.Context, _ none) ([]harnessView, error) {
	found, err := e.RescanHarnesses(ctx)
	return harnessViews(found), err
}
