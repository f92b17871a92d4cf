package engine

import (
	"context"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// ensureProfiles makes the profiles that every server has, where they are
// missing. They are never overwritten.
func (e *Engine) ensureProfiles(ctx context.Context) error {
	want := []plan.Profile{
		{Name: "claude", Harness: "claude", Description: "Claude Code with the login of this user"},
		{Name: "mock", Harness: "mock", Description: "Plays a run without a model; costs nothing"},
	}
	o := e.opts.OpenAI
	if env := e.env("OPENAI_API_KEY"); o.BaseURL != "" || env != "" {
		p := plan.Profile{Name: "openai", Harness: "openai", BaseURL: o.BaseURL, Model: o.Model, KeyEnv: o.KeyEnv,
			Description: "An OpenAI-compatible endpoint"}
		if p.BaseURL == "" && p.Model == "" {
			p.Model = "gpt-4o-mini"
		}
		want = append(want, p)
	}
	return e.store.Write(ctx, func(tx *store.Tx) error {
		made := false
		for i := range want {
			id, err := tx.ProfileNamed(want[i].Name)
			if err != nil {
				return err
			}
			if id != 0 {
				if err := e.warnKept(tx, id, &want[i]); err != nil {
					return err
				}
				continue
			}
			made = true
			if err := tx.SaveProfile(&want[i]); err != nil {
				return err
			}
		}
		if !made {
			return nil
		}
		return recordAgents(tx)
	})
}

// warnKept says which of the flags for a profile have no effect, since it is there
// and says something else.
func (e *Engine) warnKept(tx *store.Tx, id plan.ProfileID, want *plan.Profile) error {
	if want.Name != "openai" {
		return nil
	}
	has, err := tx.Profile(id)
	if err != nil {
		return err
	}
	o := e.opts.OpenAI
	for _, f := range []struct{ flag, want, has string }{
		{"--openai-base-url", o.BaseURL, has.BaseURL}, {"--openai-model", o.Model, has.Model}, {"--openai-api-key-env", o.KeyEnv, has.KeyEnv},
	} {
		if f.want != "" && f.want != f.has {
			e.log.Warn("the agent profile openai keeps what it has: change it on its page, or delete it to have it made anew",
				"flag", f.flag, "given", f.want, "kept", f.has)
		}
	}
	return nil
}

// serverDefaults finds the default agent. An unknown name is Invalid and lists
// the known ones.
func (e *Engine) serverDefaults(ctx context.Context) (plan.Server, error) {
	s := plan.Server{DefaultCapability: e.opts.DefaultCapability}
	name := e.opts.AgentProfile
	if name == "" {
		name = "claude"
		if e.opts.Mock {
			name = "mock"
		}
	}
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		s.DefaultProfile, err = findAgent(tx, AgentRef(name))
		return err
	})
	return s, err
}
