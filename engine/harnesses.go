package engine

import (
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"

	"github.com/clearbox-go/clearbox/engine/internal/harness"
	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// HarnessFound is a harness binary, usable or refused.
type HarnessFound = harness.Found

// HarnessProtocol is the version of the contract that harnesses must speak.
const HarnessProtocol = plugin.ProtocolVersion

// Report is the outcome of testing a profile.
type Report = plugin.Report

// Harnesses returns the harnesses found by the last scan.
func (e *Engine) Harnesses() []HarnessFound { return e.launcher.Found() }

// RescanHarnesses looks again for harness binaries and asks each what it is.
func (e *Engine) RescanHarnesses(ctx context.Context) ([]HarnessFound, error) {
	found := e.launcher.Scan(ctx)
	err := e.store.Write(ctx, func(tx *store.Tx) error {
		return tx.Record(plan.Change{Kind: plan.ChangeHarness})
	})
	return found, err
}

// builtinHarnesses are known even before, or without, a binary that was found:
// profiles for them can be made on any machine.
var builtinHarnesses = []string{"claude", "mock", "openai"}

// known returns the harnesses that a profile may have.
func (e *Engine) known() knownHarness {
	all := knownHarness{}
	for _, slug := range builtinHarnesses {
		all[slug] = nil
	}
	for _, f := range e.launcher.Found() {
		if f.Refused == "" {
			all[f.Slug] = e.settingsOf(&f)
		}
	}
	return all
}

// awaitScan waits until harnesses have been looked for: a server that has only just
// started does not know them, and would refuse what it has.
func (e *Engine) awaitScan(ctx context.Context) error {
	select {
	case <-e.looked:
		return nil
	case <-e.ending:
		return plan.Errorf(plan.Unavailable, "the server is ending")
	case <-ctx.Done():
		return ctx.Err()
	}
}

// awaitHarness does so where a profile's harness is not known yet.
func (e *Engine) awaitHarness(ctx context.Context, slug string) error {
	slug = plan.HarnessAlias(slug)
	if slices.ContainsFunc(e.launcher.Found(), func(f HarnessFound) bool { return f.Slug == slug }) {
		return nil
	}
	return e.awaitScan(ctx)
}

// settingsOf reads what can be set about the agents of a harness, nil when it does
// not say so in a way that can be read.
func (e *Engine) settingsOf(f *HarnessFound) *plan.Settings {
	settings, err := plan.ParseSettings(f.Info.Settings)
	if err != nil {
		e.log.Warn("settings of a harness cannot be read", "harness", f.Slug, "err", err)
		return nil
	}
	return &settings
}

// HarnessSettings returns what can be set about the agents of a harness. One that
// was not found, or does not say, allows everything.
func (e *Engine) HarnessSettings(slug string) *plan.Settings {
	if s := e.known()[plan.HarnessAlias(slug)]; s != nil {
		return s
	}
	return &plan.Settings{Open: true}
}

// HarnessSlugs returns the names of the harnesses that a profile may have.
func (e *Engine) HarnessSlugs() []string { return slices.Sorted(maps.Keys(e.known())) }

// TestDraft asks a harness whether a profile would work here with some fields
// changed, without saving it. Without an id it is a new one. What cannot be saved
// is Invalid, by field.
func (e *Engine) TestDraft(ctx context.Context, id plan.ProfileID, f ProfileFields) (*plan.Profile, Report, error) {
	var draft *plan.Profile
	var secret plugin.Profile
	err := e.readDraft(ctx, id, &f, func(tx *store.Tx, p *plan.Profile) (err error) {
		draft = p
		secret, err = e.withKey(tx, p, f.Key)
		return err
	})
	if err != nil {
		return nil, Report{}, err
	}
	return draft, e.check(ctx, draft.Harness, secret), nil
}

// CheckDraft says what is wrong with a profile with some fields changed, without
// saving it: Invalid, by field.
func (e *Engine) CheckDraft(ctx context.Context, id plan.ProfileID, f ProfileFields) error {
	return e.readDraft(ctx, id, &f, func(*store.Tx, *plan.Profile) error { return nil })
}

// readDraft reads a profile as it would be with some fields changed.
func (e *Engine) readDraft(ctx context.Context, id plan.ProfileID, f *ProfileFields, use func(*store.Tx, *plan.Profile) error) error {
	if err := trustedOnly(plan.ActorFrom(ctx)); err != nil {
		return err
	}
	if err := e.awaitHarness(ctx, deref(f.Harness)); err != nil {
		return err
	}
	known := e.known()
	return e.store.Read(ctx, func(tx *store.Tx) error {
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
		return use(tx, p)
	})
}

func (e *Engine) check(ctx context.Context, harness string, p plugin.Profile) Report {
	r, err := e.launcher.Check(ctx, harness, p, true)
	if err != nil {
		r = Report{Detail: "the harness could not be asked: " + err.Error(), Credential: p.Credential}
	}
	return r
}

// TestProfile asks a profile's harness whether it would work here. It may open
// connections but spends no tokens.
func (e *Engine) TestProfile(ctx context.Context, id plan.ProfileID) (*plan.Profile, Report, error) {
	if err := trustedOnly(plan.ActorFrom(ctx)); err != nil {
		return nil, Report{}, err
	}
	var p *plan.Profile
	var secret plugin.Profile
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		if p, err = tx.Profile(id); err != nil {
			return err
		}
		secret, err = e.withSecret(tx, p)
		return err
	})
	if err != nil {
		return nil, Report{}, err
	}
	return p, e.check(ctx, p.Harness, secret), nil
}

// withSecret returns what a harness gets of a profile, the key included: that of
// the named variable, else the stored one, else OPENAI_API_KEY where the endpoint
// is OpenAI's own.
func (e *Engine) withSecret(tx *store.Tx, p *plan.Profile) (plugin.Profile, error) {
	return e.withKey(tx, p, nil)
}

// withKey does the same with a key that, if it is given, stands for the stored one.
func (e *Engine) withKey(tx *store.Tx, p *plan.Profile, given *string) (plugin.Profile, error) {
	out := plugin.Profile{Name: p.Name, Model: p.Model, BaseURL: p.BaseURL, Params: p.Params, Tools: p.Tools,
		PermissionMode: p.PermissionMode, SystemAppend: p.SystemAppend, KeyEnv: p.KeyEnv, Credential: "none"}
	if p.Harness == "claude" {
		if out.Model == "" {
			out.Model = e.opts.Claude.Model
		}
		if out.PermissionMode == "" {
			out.PermissionMode = e.opts.Claude.PermissionMode
		}
		out.Params = withMaxTurns(p.Params, e.opts.Claude.MaxTurns)
	}
	if p.KeyEnv != "" {
		if out.Secret = e.env(p.KeyEnv); out.Secret != "" {
			out.Credential = "env:" + p.KeyEnv
			return out, nil
		}
	}
	key, err := keyFor(tx, p.ID, given)
	if err != nil {
		return out, err
	}
	if key != "" {
		out.Secret, out.Credential = key, "literal"
	} else if p.Harness == "openai" && officialOpenAI(p.BaseURL) {
		if out.Secret = e.env("OPENAI_API_KEY"); out.Secret != "" {
			out.KeyEnv, out.Credential = "OPENAI_API_KEY", "env:OPENAI_API_KEY"
		}
	}
	return out, nil
}

func keyFor(tx *store.Tx, id plan.ProfileID, given *string) (string, error) {
	if given != nil {
		return *given, nil
	}
	return tx.Key(id)
}

// withMaxTurns gives the settings of a claude profile the server's limit of turns,
// where they have none of their own.
func withMaxTurns(params json.RawMessage, turns int) json.RawMessage {
	all := map[string]json.RawMessage{}
	if turns == 0 || len(params) > 0 && json.Unmarshal(params, &all) != nil {
		return params
	}
	if own := all["max_turns"]; len(own) > 0 && string(own) != "null" {
		return params
	}
	if all == nil { // from null
		all = map[string]json.RawMessage{}
	}
	all["max_turns"] = json.RawMessage(strconv.Itoa(turns))
	out, err := json.Marshal(all)
	if err != nil {
		return params
	}
	return out
}

func officialOpenAI(base string) bool {
	u, err := url.Parse(base)
	return base == "" || err == nil && u.Hostname() == "api.openai.com"
}
