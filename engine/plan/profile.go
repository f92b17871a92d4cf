package plan

import (
	"encoding/json"
	"strings"
)

// Profile is an agent profile: a named configuration of a harness. The key
// itself is never part of it; HasKey says whether one is stored.
type Profile struct {
	ID             ProfileID       `db:"id"`
	Name           string          `db:"name"`
	Harness        string          `db:"harness"`
	Model          string          `db:"model"`
	BaseURL        string          `db:"base_url"`
	KeyEnv         string          `db:"api_key_env"`
	HasKey         bool            `db:"has_api_key"`
	Params         json.RawMessage `db:"params"`
	Tools          json.RawMessage `db:"tools"`
	PermissionMode string          `db:"permission_mode"`
	SystemAppend   string          `db:"system_append"`
	MaxParallel    int             `db:"max_parallel"` // 0: no limit
	Description    string          `db:"description"`
	Capability     string          `db:"capability"` // "" : the server's default
	TestLevel      string          `db:"test_level"` // "" : standard
	Isolation      string          `db:"isolation"`
	MaxTokens      int64           `db:"max_tokens_per_run"`
	MaxCostUSD     float64         `db:"max_cost_per_run_usd"`
	CreatedAt      Stamp           `db:"created_at"`
	UpdatedAt      Stamp           `db:"updated_at"`
	InUse          int             `db:"in_use"` // direct references by nodes and plans
}

// ProfileSpend is what the runs of a profile have used, of those that told.
type ProfileSpend struct {
	Profile   ProfileID `db:"profile_id"`
	Runs      int       `db:"runs"`
	TokensIn  int64     `db:"tokens_in"`
	TokensOut int64     `db:"tokens_out"`
	CostUSD   *float64  `db:"cost_usd"` // nil: not known of any
	Priced    int       `db:"priced"`   // runs whose cost is known
}

// The values that choice fields take.
var (
	Capabilities    = []string{"read", "run", "edit", "full"}
	TestLevels      = []string{"none", "light", "standard", "thorough"}
	Isolations      = []string{"none", "worktree", "sandbox"}
	FailurePolicies = []string{"hold", "skip"}
	ReviewPolicies  = []string{"off", "advisory", "gate"}
	Deliveries      = []string{"apply", "branch"}
	TaskTypes       = []string{"design", "implement", "configure", "test", "review", "integrate"}
)

// The review policies of a plan.
const (
	PolicyOff      = "off"
	PolicyAdvisory = "advisory"
	PolicyGate     = "gate"
)

// Choice checks a value that must be one of a few; empty is allowed and means unset.
func Choice(field, value string, of []string) error {
	if value == "" {
		return nil
	}
	for _, v := range of {
		if v == value {
			return nil
		}
	}
	return Errorf(Invalid, "%s: unknown value %q; it is one of %s", field, value, strings.Join(of, ", "))
}

// CheckProfileName refuses names that cannot be told from an id or shown in a line.
func CheckProfileName(name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return Errorf(Invalid, "name must not be empty")
	case name != strings.TrimSpace(name) || len([]rune(name)) > 100:
		return Errorf(Invalid, "name must have no space at its ends and at most 100 characters")
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return Errorf(Invalid, "name must not have control characters")
	case strings.Trim(name, "0123456789") == "":
		return Errorf(Invalid, "name must not be digits alone: it could not be told from an id")
	}
	return nil
}

// HarnessAlias maps the names that older clients use to ours.
func HarnessAlias(harness string) string {
	if harness == "claude-sdk" {
		return "claude"
	}
	return harness
}

// Sources of a resolved agent or capability.
const (
	FromNode          = "node"
	FromPlan          = "plan"
	FromInherited     = "inherited"
	FromServerDefault = "server-default"
	FromRun           = "run" // it was given up for another one after this run had begun
	FromProfile       = "profile"
	FromDefault       = "default"
	FromCustom        = "custom"
)

// Agent is the profile that runs a node, and where that was decided.
type Agent struct {
	Profile  *Profile // nil when the server default names no profile
	Source   string   // FromNode, FromPlan, FromInherited, FromServerDefault or FromRun
	FromPlan PlanID   // the plan that named it, for FromPlan and FromInherited

	Capability       string
	CapabilitySource string // FromProfile, FromDefault or FromCustom
}

// Server is what a server's flags say about agents.
type Server struct {
	DefaultProfile    ProfileID
	DefaultCapability string
}

// EffectiveCapability resolves what a worker on p may do, and why. A profile
// without a capability but with raw tools or a raw permission mode is FromCustom.
func (s Server) EffectiveCapability(p *Profile) (capability, source string) {
	switch {
	case p == nil:
		return s.DefaultCapability, FromDefault
	case p.Capability != "":
		return p.Capability, FromProfile
	case p.PermissionMode != "" || rawTools(p.Tools):
		return s.DefaultCapability, FromCustom
	}
	return s.DefaultCapability, FromDefault
}

// rawTools reports whether a tools object narrows or widens what is offered.
func rawTools(tools json.RawMessage) bool {
	var t struct {
		Preset      *string
		Allow, Deny []string
	}
	if json.Unmarshal(tools, &t) != nil {
		return false
	}
	return t.Preset != nil || len(t.Allow)+len(t.Deny) > 0
}

// ReviewCapability is what a reviewer on p may do: run, unless its params say otherwise.
func ReviewCapability(p *Profile) string {
	var params struct {
		Capability string `json:"review_capability"`
	}
	if p != nil && json.Unmarshal(p.Params, &params) == nil && params.Capability != "" {
		return params.Capability
	}
	return "run"
}
