package handlers

import (
	"encoding/json"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// profileView is the public part of an agent profile. The key is never in it.
type profileView struct {
	ID                  plan.ProfileID  `json:"id"`
	Name                string          `json:"name"`
	Harness             string          `json:"harness"`
	Model               *string         `json:"model"`
	BaseURL             *string         `json:"base_url"`
	KeyEnv              *string         `json:"api_key_env"`
	HasKey              bool            `json:"has_api_key"`
	Params              json.RawMessage `json:"params"`
	Tools               json.RawMessage `json:"tools"`
	PermissionMode      *string         `json:"permission_mode"`
	SystemAppend        *string         `json:"system_append"`
	MaxParallel         *int            `json:"max_parallel"`
	Description         string          `json:"description"`
	Capability          *string         `json:"capability"`
	TestLevel           *string         `json:"test_level"`
	Isolation           *string         `json:"isolation"`
	MaxTokens           *int64          `json:"max_tokens_per_run"`
	MaxCostUSD          *float64        `json:"max_cost_per_run_usd"`
	Limit               *limitView      `json:"limit"`
	Default             bool            `json:"default"`
	InUse               int             `json:"in_use"`
	EffectiveCapability string          `json:"effective_capability"`
	CapabilitySource    string          `json:"capability_source"`
	ReviewCapability    string          `json:"review_capability"`
	CreatedAt           plan.Stamp      `json:"created_at"`
	UpdatedAt           plan.Stamp      `json:"updated_at"`
}

// limitView says that an agent's provider refuses work.
type limitView struct {
	Until plan.Stamp `json:"until"` // from then on it is asked again
	Text  string     `json:"text"`  // what it said
}

// limitIn returns the limit of a profile, nil when it has none.
func limitIn(limits map[plan.ProfileID]plan.Limit, id plan.ProfileID) *limitView {
	l, limited := limits[id]
	if !limited {
		return nil
	}
	return &limitView{l.Until, l.Text}
}

func profileViewOf(server plan.Server, p *plan.Profile, limits map[plan.ProfileID]plan.Limit) profileView {
	capability, source := server.EffectiveCapability(p)
	return profileView{ID: p.ID, Name: p.Name, Harness: p.Harness, Model: orNull(&p.Model), BaseURL: orNull(&p.BaseURL),
		KeyEnv: orNull(&p.KeyEnv), HasKey: p.HasKey, Params: object(p.Params), Tools: object(p.Tools),
		PermissionMode: orNull(&p.PermissionMode), SystemAppend: orNull(&p.SystemAppend), MaxParallel: orNull(&p.MaxParallel),
		Description: p.Description, Capability: orNull(&p.Capability), TestLevel: orNull(&p.TestLevel),
		Isolation: orNull(&p.Isolation), MaxTokens: orNull(&p.MaxTokens), MaxCostUSD: orNull(&p.MaxCostUSD), Limit: limitIn(limits, p.ID),
		Default: p.ID == server.DefaultProfile, InUse: p.InUse, EffectiveCapability: capability, CapabilitySource: source,
		ReviewCapability: plan.ReviewCapability(p), CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt}
}

// object returns a JSON object, the empty one where there is none.
func object(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || string(raw) == "null" {
		return json.RawMessage("{}")
	}
	return raw
}

// reportView is the answer of POST /api/agents/{id}/test.
type reportView struct {
	OK           bool      `json:"ok"`
	Detail       string    `json:"detail"`
	Agent        agentView `json:"agent"`
	Credential   *string   `json:"credential"`
	BaseURL      *string   `json:"base_url"`
	Field        *string   `json:"field"`
	Reachable    *bool     `json:"reachable"`
	ModelListed  *bool     `json:"model_listed"`
	ModelsSample []string  `json:"models_sample"`
}

func reportViewOf(server plan.Server, p *plan.Profile, r engine.Report) reportView {
	capability, source := server.EffectiveCapability(p)
	return reportView{r.OK, r.Detail, agentOf(p, capability, source), orNull(&r.Credential), orNull(&r.BaseURL), orNull(&r.Field),
		r.Reachable, r.ModelListed, listed(r.ModelsSample)}
}

// harnessView is a harness that was found, usable or refused.
type harnessView struct {
	Slug         string          `json:"slug"`
	Name         string          `json:"name"`
	Version      *string         `json:"version"`
	Path         string          `json:"path"`
	Protocol     int             `json:"protocol"`
	Capabilities []string        `json:"capabilities"`
	Features     featuresView    `json:"features"`
	Settings     json.RawMessage `json:"settings"`
	Refused      *string         `json:"refused"`
}

type featuresView struct {
	MCP    bool `json:"mcp"`
	Resume bool `json:"resume"`
	Ask    bool `json:"ask"`
	Usage  bool `json:"usage"`
	Cost   bool `json:"cost"`
	Model  bool `json:"model"`
}

func harnessViews(found []engine.HarnessFound) []harnessView {
	out := make([]harnessView, len(found))
	for i := range found {
		f := &found[i]
		name := f.Info.Name
		if name == "" {
			name = f.Slug
		}
		v := harnessView{Slug: f.Slug, Name: name, Version: orNull(&f.Info.Version), Path: f.Path, Protocol: engine.HarnessProtocol,
			Capabilities: []string{}, Features: featuresView(f.Info.Features), Settings: object(f.Info.Settings), Refused: orNull(&f.Refused)}
		for _, c := range f.Info.Capabilities {
			v.Capabilities = append(v.Capabilities, string(c))
		}
		out[i] = v
	}
	return out
}
