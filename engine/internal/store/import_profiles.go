package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// profile returns our profile for one there, 0 for none.
func (k *takeover) profile(id *int64) plan.ProfileID {
	if id == nil {
		return 0
	}
	return k.profiles[*id]
}

// takeProfiles takes over the agent profiles with their keys. One that is here
// already under its name and does the same stays as it is.
func (k *takeover) takeProfiles() error {
	ours, err := k.t.Profiles()
	if err != nil {
		return err
	}
	keepIDs := len(ours) == 0
	err = eachOld(k, "agents", k.from.table("agent_profiles", "id"), func(row *oldProfile) error {
		p, key := k.convertProfile(row)
		if keepIDs && row.ID > 0 {
			p.ID = plan.ProfileID(row.ID)
		}
		kept, err := k.saveProfile(p, key)
		if err != nil {
			return err
		}
		k.profiles[row.ID], k.agents[row.Name] = p.ID, p.ID
		k.out.Profiles = append(k.out.Profiles, ImportedProfile{Was: cleaned(row.Name), Name: p.Name, Kept: kept, HasKey: key != ""})
		return nil
	})
	return err
}

// convertProfile makes one of our profiles, and its key.
func (k *takeover) convertProfile(row *oldProfile) (*plan.Profile, string) {
	p := &plan.Profile{Name: profileName(row), Harness: plan.HarnessAlias(cleaned(row.Harness)), Model: textOf(row.Model),
		BaseURL: textOf(row.BaseURL), KeyEnv: textOf(row.KeyEnv), PermissionMode: textOf(row.PermissionMode),
		SystemAppend: textOf(row.SystemAppend), MaxParallel: int(oldNumber(row.MaxParallel)), Description: cleaned(row.Description),
		CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt}
	if p.Name != row.Name {
		k.out.note("the agent %q is called %q here: its name is none that can be chosen here", cleaned(row.Name), p.Name)
	}
	p.Params = k.settings(p.Name, "params", row.Params)
	p.Tools = k.settings(p.Name, "tools", row.Tools)
	p.Capability = k.choice(p.Name, "capability", textOf(row.Capability), plan.Capabilities)
	p.TestLevel = k.choice(p.Name, "test_level", textOf(row.TestLevel), plan.TestLevels)
	key := textOf(row.Key)
	if hidden := takeKey(p); hidden != "" {
		k.out.note("the agent %q had its key among its params, where everyone could read it: it is kept apart here", p.Name)
		if key == "" {
			key = hidden
		}
	}
	return p, key
}

// settings reads a JSON object of a profile.
func (k *takeover) settings(name, field, text string) json.RawMessage {
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &m); err != nil || m == nil {
		k.out.note("the agent %q has %s that are no JSON object; left out", name, field)
		return json.RawMessage("{}")
	}
	return json.RawMessage(text)
}

// choice keeps a value that is known here.
func (k *takeover) choice(name, field, value string, of []string) string {
	if err := plan.Choice(field, value, of); err != nil {
		k.out.note("the agent %q has the %s %q, which is not known here; left out", name, field, value)
		return ""
	}
	return value
}

// takeKey removes a key from the params of a profile and returns it.
func takeKey(p *plan.Profile) string {
	var m map[string]json.RawMessage
	if json.Unmarshal(p.Params, &m) != nil || m["api_key"] == nil {
		return ""
	}
	var key string
	if json.Unmarshal(m["api_key"], &key) != nil {
		key = ""
	}
	delete(m, "api_key")
	if b, err := json.Marshal(m); err == nil {
		p.Params = b
	}
	return key
}

// profileName makes a name that may be chosen here.
func profileName(row *oldProfile) string {
	if plan.CheckProfileName(row.Name) == nil {
		return cleaned(row.Name)
	}
	name := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, cleaned(row.Name))
	if name = shortName(strings.TrimSpace(name), 80); plan.CheckProfileName(name) == nil {
		return name
	}
	return strings.TrimSpace(fmt.Sprintf("agent %s", name))
}

// shortName cuts a name that has too many characters.
func shortName(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return strings.TrimSpace(string(r[:most]))
	}
	return s
}

// saveProfile finds a profile that is the same and goes by the same name, or one
// that an earlier import made, else adds one.
func (k *takeover) saveProfile(p *plan.Profile, key string) (kept bool, err error) {
	const renamed = " (imported"
	base := shortName(p.Name, 80)
	for i := 0; ; i++ {
		switch i {
		case 0:
		case 1:
			p.Name = base + renamed + ")"
		default:
			p.Name = fmt.Sprintf("%s%s %d)", base, renamed, i)
		}
		id, err := k.t.ProfileNamed(p.Name)
		if err != nil {
			return false, err
		}
		if id == 0 {
			return false, k.insertProfile(p, key)
		}
		same, err := k.sameProfile(id, p, key)
		if err != nil {
			return false, err
		}
		if same {
			p.ID = id
			return true, nil
		}
	}
}

const insertOldProfile = `INSERT INTO profiles (id, name, harness, model, base_url, api_key_env, params, tools, permission_mode,
	system_append, max_parallel, description, capability, test_level, created_at, updated_at)
	VALUES (NULLIF(?, 0), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`

func (k *takeover) insertProfile(p *plan.Profile, key string) error {
	err := k.t.get("insert an agent profile", &p.ID, insertOldProfile, p.ID, p.Name, p.Harness, p.Model, p.BaseURL, p.KeyEnv,
		object(p.Params), object(p.Tools), p.PermissionMode, p.SystemAppend, p.MaxParallel, p.Description, p.Capability,
		p.TestLevel, p.CreatedAt, p.UpdatedAt)
	if err != nil || key == "" {
		return err
	}
	return k.t.SetKey(p.ID, key)
}

// sameProfile reports whether one of ours does what another one does. What it
// says of itself does not count.
func (k *takeover) sameProfile(id plan.ProfileID, p *plan.Profile, key string) (bool, error) {
	ours, err := k.t.Profile(id)
	if err != nil {
		return false, err
	}
	ourKey, err := k.t.Key(id)
	if err != nil {
		return false, err
	}
	return ours.Harness == p.Harness && ours.Model == p.Model && ours.BaseURL == p.BaseURL && ours.KeyEnv == p.KeyEnv &&
		ourKey == key && sameJSON(ours.Params, p.Params) && sameJSON(ours.Tools, p.Tools) &&
		ours.PermissionMode == p.PermissionMode && ours.SystemAppend == p.SystemAppend && ours.MaxParallel == p.MaxParallel &&
		ours.Capability == p.Capability && ours.TestLevel == p.TestLevel && ours.Isolation == p.Isolation &&
		ours.MaxTokens == p.MaxTokens && ours.MaxCostUSD == p.MaxCostUSD, nil
}

// sameJSON compares objects, whatever the order and spacing.
func sameJSON(a, b json.RawMessage) bool {
	return bytes.Equal(canonical(a), canonical(b))
}

func canonical(j json.RawMessage) []byte {
	var v any
	if json.Unmarshal([]byte(object(j)), &v) != nil {
		return j
	}
	b, err := json.Marshal(v) // keys come out sorted
	if err != nil {
		return j
	}
	return b
}
