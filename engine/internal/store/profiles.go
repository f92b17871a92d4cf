package store

import (
	"encoding/json"
	"errors"

	sqlite "github.com/mattn/go-sqlite3"

	"github.com/clearbox-go/clearbox/engine/plan"
)

const profileColumns = `p.id, p.name, p.harness, p.model, p.base_url, p.api_key_env,
	CAST(p.params AS BLOB) AS params, CAST(p.tools AS BLOB) AS tools,
	p.permission_mode, p.system_append, p.max_parallel, p.description, p.capability, p.test_level, p.isolation,
	p.max_tokens_per_run, p.max_cost_per_run_usd, p.created_at, p.updated_at,
	EXISTS (SELECT 1 FROM profile_keys k WHERE k.profile_id = p.id) AS has_api_key,
	(SELECT COUNT(*) FROM nodes n WHERE n.profile_id = p.id AND n.profile_id > 0)
	+ (SELECT COUNT(*) FROM plans q WHERE q.default_profile_id = p.id AND q.default_profile_id > 0)
	+ (SELECT COUNT(*) FROM plans q WHERE q.review_profile_id = p.id AND q.review_profile_id > 0) AS in_use`

const allProfiles = `SELECT ` + profileColumns + ` FROM profiles p ORDER BY p.id`

// Profiles returns all agent profiles by id.
func (t *Tx) Profiles() ([]plan.Profile, error) {
	var list []plan.Profile
	err := t.list("read agent profiles", &list, allProfiles)
	return list, err
}

const profileByID = `SELECT ` + profileColumns + ` FROM profiles p WHERE p.id = ?`

// Profile returns an agent profile; NotFound when there is none.
func (t *Tx) Profile(id plan.ProfileID) (*plan.Profile, error) {
	var p plan.Profile
	err := t.get("read agent profile", &p, profileByID, id)
	if isNone(err) {
		return nil, plan.Errorf(plan.NotFound, "there is no agent profile %d", id)
	}
	return &p, err
}

const profileIDByName = `SELECT id FROM profiles WHERE name = ?`

// ProfileNamed returns the id of a profile, 0 when there is none of that name.
func (t *Tx) ProfileNamed(name string) (plan.ProfileID, error) {
	var id plan.ProfileID
	err := t.get("find agent profile", &id, profileIDByName, name)
	if isNone(err) {
		return 0, nil
	}
	return id, err
}

const insertProfile = `INSERT INTO profiles (name, harness, model, base_url, api_key_env, params, tools,
	permission_mode, system_append, max_parallel, description, capability, test_level, isolation,
	max_tokens_per_run, max_cost_per_run_usd, created_at, updated_at)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`

const updateProfile = `UPDATE profiles SET name = ?, harness = ?, model = ?, base_url = ?, api_key_env = ?, params = ?,
	tools = ?, permission_mode = ?, system_append = ?, max_parallel = ?, description = ?, capability = ?,
	test_level = ?, isolation = ?, max_tokens_per_run = ?, max_cost_per_run_usd = ?, updated_at = ? WHERE id = ?`

// SaveProfile inserts a profile without an ID and sets it, or updates one. A
// name that another profile has is Invalid.
func (t *Tx) SaveProfile(p *plan.Profile) error {
	args := []any{p.Name, p.Harness, p.Model, p.BaseURL, p.KeyEnv, object(p.Params), object(p.Tools),
		p.PermissionMode, p.SystemAppend, p.MaxParallel, p.Description, p.Capability, p.TestLevel, p.Isolation,
		p.MaxTokens, p.MaxCostUSD}
	p.UpdatedAt = t.now
	var err error
	if p.ID == 0 {
		p.CreatedAt = t.now
		err = t.get("insert agent profile", &p.ID, insertProfile, append(args, t.now, t.now)...)
	} else {
		var n int64
		if n, err = t.exec("update agent profile", updateProfile, append(args, t.now, p.ID)...); err == nil && n == 0 {
			err = plan.Errorf(plan.NotFound, "there is no agent profile %d", p.ID)
		}
	}
	var e sqlite.Error
	if errors.As(err, &e) && e.ExtendedCode == sqlite.ErrConstraintUnique {
		return plan.Errorf(plan.Invalid, "name: there is an agent profile %q already", p.Name)
	}
	return err
}

func object(j json.RawMessage) string {
	if len(j) == 0 || string(j) == "null" {
		return "{}"
	}
	return string(j)
}

const (
	setKey    = `INSERT INTO profile_keys VALUES (?, ?) ON CONFLICT (profile_id) DO UPDATE SET api_key = excluded.api_key`
	deleteKey = `DELETE FROM profile_keys WHERE profile_id = ?`
	keyOf     = `SELECT api_key FROM profile_keys WHERE profile_id = ?`
)

// SetKey stores the API key of a profile; an empty one is removed.
func (t *Tx) SetKey(id plan.ProfileID, key string) error {
	var err error
	if key == "" {
		_, err = t.exec("clear a key", deleteKey, id)
	} else {
		_, err = t.exec("store a key", setKey, id, key)
	}
	return err
}

// Key returns the stored API key of a profile, "" when there is none. It is for
// the start of a run alone.
func (t *Tx) Key(id plan.ProfileID) (string, error) {
	var key string
	err := t.get("read a key", &key, keyOf, id)
	if isNone(err) {
		return "", nil
	}
	return key, err
}

var forgetProfile = []string{
	`UPDATE nodes SET profile_id = 0 WHERE profile_id = ?`,
	`UPDATE plans SET default_profile_id = 0 WHERE default_profile_id = ?`,
	`UPDATE plans SET review_profile_id = 0 WHERE review_profile_id = ?`,
	`DELETE FROM profiles WHERE id = ?`,
}

// DeleteProfile removes a profile; who used it inherits from then on.
func (t *Tx) DeleteProfile(id plan.ProfileID) error {
	for _, q := range forgetProfile {
		if _, err := t.exec("delete agent profile", q, id); err != nil {
			return err
		}
	}
	return nil
}

const rootsUsing = `SELECT DISTINCT p.root_id FROM plans p JOIN plans r ON r.id = p.root_id WHERE r.started = 1 AND
	(p.default_profile_id = ?1 OR EXISTS (SELECT 1 FROM nodes n WHERE n.plan_id = p.id AND n.profile_id = ?1 AND n.profile_id > 0))`

// StartedRootsUsing returns the started trees in which a profile is named.
func (t *Tx) StartedRootsUsing(id plan.ProfileID) ([]plan.PlanID, error) {
	var ids []plan.PlanID
	err := t.list("find who uses a profile", &ids, rootsUsing, id)
	return ids, err
}
