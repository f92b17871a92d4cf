package engine

import (
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

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
	MaxTokens      *int64           `json:"max_tokens_per_run,omitempty" jsonschema:"A run that has used so many tokens, in and out together, is ended and its step fails."`
	MaxCostUSD     *float64         `json:"max_cost_per_run_usd,omitempty" jsonschema:"The same in US dollars, for agents that report what they cost."`
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

// Profile returns one agent profile; NotFound when there is none.
func (e *Engine) Profile(ctx context.Context, id plan.ProfileID) (*plan.Profile, error) {
	var p *plan.Profile
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		p, err = tx.Profile(id)
		return err
	})
	return p, err
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
	if err := e.awaitHarness(ctx, deref(f.Harness)); err != nil {
		return nil, err
	}
	known := e.known()
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

// knownHarness is a harness that profiles may have, with what can be set about
// its agents; nil when that is not known.
type knownHarness map[string]*plan.Settings

// apply sets the given fields on p and checks them: on an error p is of no use.
func (f *ProfileFields) apply(p *plan.Profile, known knownHarness) error {
	var bad plan.Problems
	was := p.Harness
	f.setOn(p)
	bad.Add(plan.Choice("isolation", p.Isolation, []string{"none", worktree}))
	bad.Add(plan.CheckProfileName(p.Name))
	settings, isKnown := known[p.Harness]
	if !isKnown {
		slugs := slices.Sorted(maps.Keys(known))
		bad.Addf("harness: unknown harness %q; known are %s", p.Harness, strings.Join(slugs, ", "))
	}
	f.checkConnection(p, &bad)
	bad.Add(plan.Choice("capability", p.Capability, plan.Capabilities))
	bad.Add(plan.Choice("test_level", p.TestLevel, plan.TestLevels))
	f.checkObjects(p, &bad)
	if settings != nil && (f.Params != nil || p.Harness != was) {
		settings.Check(p.Params, &bad)
	}
	for _, limit := range []struct {
		field string
		low   bool
	}{{"max_parallel", p.MaxParallel < 0}, {"max_tokens_per_run", p.MaxTokens < 0}, {"max_cost_per_run_usd", !(p.MaxCostUSD >= 0)}} {
		if limit.low {
			bad.Addf("%s must be positive", limit.field)
		}
	}
	for _, text := range []struct{ field, text string }{{"model", p.Model}, {"permission_mode", p.PermissionMode},
		{"system_append", p.SystemAppend}, {"description", p.Description}} {
		checkText(&bad, "profile", text.field, text.text)
	}
	return bad.Err("the agent profile was not saved:")
}

// checkConnection checks how the model is reached.
func (f *ProfileFields) checkConnection(p *plan.Profile, bad *plan.Problems) {
	switch u, err := url.Parse(p.BaseURL); {
	case p.BaseURL == "":
	case !strings.HasPrefix(p.BaseURL, "http://") && !strings.HasPrefix(p.BaseURL, "https://"):
		bad.Addf("base_url: %q must begin with http:// or https://", p.BaseURL)
	case err != nil || u.Host == "":
		bad.Addf("base_url must be a whole address, such as http://127.0.0.1:8080/v1")
	case f.BaseURL != nil && u.User != nil:
		bad.Addf("base_url must not hold a user or a password, which everyone could read: use the field api_key, or api_key_env")
	}
	if p.KeyEnv != "" && !envName.MatchString(p.KeyEnv) {
		bad.Addf("api_key_env must be the NAME of an environment variable, not a key")
	}
	if f.Key != nil && strings.ContainsFunc(*f.Key, unicode.IsControl) {
		bad.Addf("api_key must not have line breaks or other control characters")
	}
}

// checkObjects checks params and tools, where they are given: what is stored stays
// good until it is changed.
func (f *ProfileFields) checkObjects(p *plan.Profile, bad *plan.Problems) {
	bad.Add(isObject("params", p.Params))
	bad.Add(isObject("tools", p.Tools))
	if f.Params != nil {
		plan.CheckParams(p.Params, bad)
	}
	if f.Tools != nil {
		plan.CheckTools(p.Tools, bad)
	}
}

func (f *ProfileFields) setOn(p *plan.Profile) {
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
	set(&p.MaxTokens, f.MaxTokens)
	set(&p.MaxCostUSD, f.MaxCostUSD)
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
	return plan.Errorf(plan.Invalid, "agent: unknown agent profile '%s'; known are %s", ref, strings.Join(names, ", "))
}

func (e *Engine) env(name string) string {
	if e.opts.Env != nil {
		return e.opts.Env(name)
	}
	return os.Getenv(name)
}
