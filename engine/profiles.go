package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// ProfileFields are the fields of an agent profile that can be edited. Nil
// leaves a field as it is; empty clears it.
type ProfileFields struct {
	Name           *string          `json:"name,omitempty" jsonschema:"A name of its own; not digits alone."`
	Harness        *string          `json:"harness,omitempty" jsonschema:"The agent runtime, see GET /api/harnesses."`
	Model          *string          `json:"model,omitempty" jsonschema:"The model, as the harness names it."`
	BaseURL        *string          `json:"base_url,omitempty" jsonschema:"Endpoint of the model, http:// or https://."`
	KeyEnv         *string          `json:"api_key_env,omitempty" jsonschema:"NAME of the environment variable that holds the key."`
	Key            *string          `json:"api_key,omitempty" secret:"true" jsonschema:"The key itself. Write-only: null keeps it, an empty string clears it."`
	Params         *json.RawMessage `json:"params,omitempty" jsonschema:"Settings of the harness, an object."`
	Tools          *json.RawMessage `json:"tools,omitempty" jsonschema:"Tools of the agent: preset all, readonly or none, allow[], deny[], mcp."`
	PermissionMode *string          `json:"permission_mode,omitempty" jsonschema:"Permission mode, for harnesses that have one."`
	SystemAppend   *string          `json:"system_append,omitempty" jsonschema:"Text added to the system prompt."`
	MaxParallel    *int             `json:"max_parallel,omitempty" jsonschema:"At most so many runs of this agent at once."`
	Description    *string          `json:"description,omitempty" jsonschema:"What this agent is good for; planners read it."`
	Capability     *string          `json:"capability,omitempty" jsonschema:"read, run, edit or full."`
	TestLevel      *string          `json:"test_level,omitempty" jsonschema:"none, light, standard or thorough."`
	Isolation      *string          `json:"isolation,omitempty" jsonschema:"none or worktree: the least isolation that this agent works in; an empty string clears."`
	MaxTokens      *int64           `json:"max_tokens_per_run,omitempty" jsonschema:"A run that has used so many tokens, in and out together, is ended and its step fails; 0 clears."`
	MaxCostUSD     *float64         `json:"max_cost_per_run_usd,omitempty" jsonschema:"The same in US dollars, for agents that report what they cost; 0 clears."`
}

// Profiles returns all agent profiles by id.
func (e *Engine) Profiles(ctx context.Context) ([]plan.Profile, error) {
	var list []plan.Profile
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		list, err = tx.Profiles()
		return err
	})
	return list, err
}

// Server returns what this server's flags say about agents.
func (e *Engine) Server() plan.Server { return e.server }

// CreateProfile makes an agent profile and returns it.
func (e *Engine) CreateProfile(ctx context.Context, f ProfileFields) (*plan.Profile, error) {
	return e.saveProfile(ctx, 0, f)
}

// UpdateProfile changes an agent profile and returns it. Steps that run keep
// what they started with.
func (e *Engine) UpdateProfile(ctx context.Context, id plan.ProfileID, f ProfileFields) (*plan.Profile, error) {
	if id == 0 {
		return nil, plan.Errorf(plan.NotFound, "there is no agent profile 0")
	}
	return e.saveProfile(ctx, id, f)
}

func (e *Engine) saveProfile(ctx context.Context, id plan.ProfileID, f ProfileFields) (*plan.Profile, error) {
	if err := trustedOnly(plan.ActorFrom(ctx)); err != nil {
		return nil, err
	}
	known := e.slugs()
	var saved *plan.Profile
	err := e.store.Write(ctx, func(tx *store.Tx) error {
		p := &plan.Profile{}
		if id != 0 {
			var err error
			if p, err = tx.Profile(id); err != nil {
				return err
			}
		}
		if err := f.apply(p, known); err != nil {
			return err
		}
		if err := tx.SaveProfile(p); err != nil {
			return err
		}
		if f.Key != nil {
			if err := tx.SetKey(p.ID, *f.Key); err != nil {
				return err
			}
		}
		if err := recordAgents(tx); err != nil {
			return err
		}
		var err error
		saved, err = tx.Profile(p.ID)
		return err
	})
	return saved, err
}

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// apply checks the given fields and sets them on p: all or none.
func (f *ProfileFields) apply(p *plan.Profile, slugs []string) error {
	var bad plan.Problems
	set(&p.Name, f.Name)
	set(&p.Harness, f.Harness)
	p.Harness = plan.HarnessAlias(p.Harness)
	set(&p.Model, f.Model)
	set(&p.BaseURL, f.BaseURL)
	set(&p.KeyEnv, f.KeyEnv)
	set(&p.Params, f.Params)
	set(&p.Tools, f.Tools)
	set(&p.PermissionMode, f.PermissionMode)
	set(&p.SystemAppend, f.SystemAppend)
	set(&p.MaxParallel, f.MaxParallel)
	set(&p.Description, f.Description)
	set(&p.Capability, f.Capability)
	set(&p.TestLevel, f.TestLevel)
	set(&p.Isolation, f.Isolation)
	bad.Add(plan.Choice("isolation", p.Isolation, []string{"none", worktree}))
	set(&p.MaxTokens, f.MaxTokens)
	set(&p.MaxCostUSD, f.MaxCostUSD)
	bad.Add(plan.CheckProfileName(p.Name))
	if !slices.Contains(slugs, p.Harness) {
		bad.Addf("harness: unknown harness %q; known are %s", p.Harness, strings.Join(slugs, ", "))
	}
	if p.BaseURL != "" && !strings.HasPrefix(p.BaseURL, "http://") && !strings.HasPrefix(p.BaseURL, "https://") {
		bad.Addf("base_url: %q must begin with http:// or https://", p.BaseURL)
	}
	if p.KeyEnv != "" && !envName.MatchString(p.KeyEnv) {
		bad.Addf("api_key_env must be the NAME of an environment variable, not a key")
	}
	bad.Add(plan.Choice("capability", p.Capability, plan.Capabilities))
	bad.Add(plan.Choice("test_level", p.TestLevel, plan.TestLevels))
	bad.Add(isObject("params", p.Params))
	if hasKey(p.Params, "api_key") {
		bad.Addf("params must not hold api_key, where everyone could read it: use the field api_key, or api_key_env")
	}
	bad.Add(isObject("tools", p.Tools))
	if p.MaxParallel < 0 {
		bad.Addf("max_parallel must be positive")
	}
	if p.MaxTokens < 0 || p.MaxCostUSD < 0 {
		bad.Addf("max_tokens_per_run and max_cost_per_run_usd must be positive")
	}
	checkText(&bad, "profile", "system_append", p.SystemAppend)
	checkText(&bad, "profile", "description", p.Description)
	return bad.Err("the agent profile was not saved:")
}

func isObject(field string, j json.RawMessage) error {
	if len(j) == 0 || string(j) == "null" {
		return nil
	}
	var m map[string]any
	if json.Unmarshal(j, &m) != nil {
		return plan.Errorf(plan.Malformed, "%s must be a JSON object", field)
	}
	return nil
}

// hasKey reports whether a JSON object has a key.
func hasKey(j json.RawMessage, key string) bool {
	var m map[string]json.RawMessage
	return json.Unmarshal(j, &m) == nil && m[key] != nil
}

// DeleteProfile removes an agent profile; who used it inherits from then on.
func (e *Engine) DeleteProfile(ctx context.Context, id plan.ProfileID) error {
	if err := trustedOnly(plan.ActorFrom(ctx)); err != nil {
		return err
	}
	return e.store.Write(ctx, func(tx *store.Tx) error {
		if _, err := tx.Profile(id); err != nil {
			return err
		}
		if id == e.server.DefaultProfile {
			return plan.Errorf(plan.Invalid, "this profile is the server's default agent: start the server with another --agent-profile first")
		}
		roots, err := tx.StartedRootsUsing(id)
		if err != nil {
			return err
		}
		if err := tx.DeleteProfile(id); err != nil {
			return err
		}
		for _, root := range roots {
			facts, err := tx.TreeFacts(root)
			if err != nil {
				return err
			}
			if err := tx.Record(plan.Change{Root: root, Plan: root, Kind: plan.ChangePlan, Shape: true, Facts: &facts}); err != nil {
				return err
			}
		}
		return recordAgents(tx)
	})
}

// recordAgents tells everyone that profiles, or who uses them, have changed.
func recordAgents(tx *store.Tx) error {
	all, err := tx.Profiles()
	if err != nil {
		return err
	}
	return tx.Record(plan.Change{Kind: plan.ChangeAgents, Profiles: all})
}

// findAgent finds a profile by name or id; an empty reference is none.
func findAgent(tx *store.Tx, ref AgentRef) (plan.ProfileID, error) {
	if ref == "" {
		return 0, nil
	}
	if id, err := strconv.ParseInt(string(ref), 10, 64); err == nil {
		if _, err := tx.Profile(plan.ProfileID(id)); err != nil {
			return 0, unknownAgent(tx, ref)
		}
		return plan.ProfileID(id), nil
	}
	id, err := tx.ProfileNamed(string(ref))
	if err == nil && id == 0 {
		err = unknownAgent(tx, ref)
	}
	return id, err
}

func unknownAgent(tx *store.Tx, ref AgentRef) error {
	all, err := tx.Profiles()
	if err != nil {
		return err
	}
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = p.Name
	}
	return plan.Errorf(plan.Invalid, "unknown agent profile '%s'; known are %s", ref, strings.Join(names, ", "))
}

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
		if s.DefaultProfile, err = findAgent(tx, AgentRef(name)); err != nil {
			return fmt.Errorf("agent profile: %w", err)
		}
		return nil
	})
	return s, err
}

func (e *Engine) env(name string) string {
	if e.opts.Env != nil {
		return e.opts.Env(name)
	}
	return os.Getenv(name)
}
