package store

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// profilesHere adds profiles as a server does when it starts, and further ones.
func profilesHere(t *testing.T, s *Store, further ...plan.Profile) {
	t.Helper()
	write(t, s, func(tx *Tx) error {
		for _, p := range append([]plan.Profile{{Name: "claude", Harness: "claude", Description: "ours"}, {Name: "mock", Harness: "mock"}}, further...) {
			if err := tx.SaveProfile(&p); err != nil {
				return err
			}
		}
		return nil
	})
}

// became says what became of the agents, NAME or NAME > NEW NAME, = when it was kept.
func became(out *Imported) string {
	var all []string
	for _, p := range out.Profiles {
		text := p.Was
		if p.Name != p.Was {
			text += " > " + p.Name
		}
		if p.Kept {
			text += " ="
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

func TestAgentsOfOneName(t *testing.T) {
	equal := plan.Profile{Name: "by-env", Harness: "openai", BaseURL: "http://127.0.0.1:9/v1", Model: "made-up", KeyEnv: "MADE_UP_KEY",
		MaxParallel: 2, Tools: json.RawMessage(`{"deny":["bash"],"preset":"readonly"}`), SystemAppend: "Be brief.", Capability: "edit", TestLevel: "light"}
	other := equal
	other.SystemAppend = "Be long."
	limited := plan.Profile{Name: "slow", Harness: "mock", Params: json.RawMessage(`{"speed":1e-4}`), MaxTokens: 5}
	for _, c := range []struct {
		name string
		here []plan.Profile
		want string
	}{
		{"only those that every server has", nil, "claude =, mock =, 秘书 🤖, by-env, slow, careful"},
		{"an equal one", []plan.Profile{equal}, "claude =, mock =, 秘书 🤖, by-env =, slow, careful"},
		{"another one", []plan.Profile{other}, "claude =, mock =, 秘书 🤖, by-env > by-env (imported), slow, careful"},
		{"one with a limit that theirs cannot have", []plan.Profile{limited}, "claude =, mock =, 秘书 🤖, by-env, slow > slow (imported), careful"},
		{"one without the key", []plan.Profile{{Name: "秘书 🤖", Harness: "openai"}}, "claude =, mock =, 秘书 🤖 > 秘书 🤖 (imported), by-env, slow, careful"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, Options{})
			profilesHere(t, s, c.here...)
			path := original(t, "0.4.1")
			out := mustImport(t, s, importing{path: path})
			if diff := cmp.Diff(c.want, became(out)); diff != "" {
				t.Error(diff)
			}
			if got := one[string](t, s, `SELECT p.name FROM nodes n JOIN profiles p ON p.id = n.profile_id WHERE n.plan_id = 9 AND n.node_id = 8`); !strings.HasPrefix(got, "by-env") {
				t.Errorf("the step of by-env is run by %q", got)
			}
			if got := one[string](t, s, `SELECT description FROM profiles WHERE name = 'claude'`); got != "ours" {
				t.Errorf("a profile that was kept is now described as %q", got)
			}
			if got := one[string](t, s, `SELECT api_key FROM profile_keys JOIN profiles ON id = profile_id WHERE name LIKE '秘书%'`); got != "sk-made-up-literal-key" {
				t.Error("the key did not come along")
			}
			count := one[int](t, s, `SELECT COUNT(*) FROM profiles`)
			again := mustImport(t, s, importing{path: path, again: true})
			if n := one[int](t, s, `SELECT COUNT(*) FROM profiles`); n != count {
				t.Errorf("imported again there are %d profiles instead of %d: %s", n, count, became(again))
			}
		})
	}
}

func TestAThirdAgentOfOneName(t *testing.T) {
	s := open(t, Options{})
	profilesHere(t, s, plan.Profile{Name: "slow", Harness: "openai"}, plan.Profile{Name: "slow (imported)", Harness: "openai"})
	out := mustImport(t, s, importing{path: original(t, "0.4.1")})
	if got := became(out); !strings.Contains(got, "slow > slow (imported 2)") {
		t.Error(got)
	}
}

func TestAgentsThatCannotBeAsTheyWere(t *testing.T) {
	long := strings.Repeat("長", 120)
	s := open(t, Options{})
	out := mustImport(t, s, importing{path: original(t, "0.4.1",
		`UPDATE agent_profiles SET name = '42' WHERE id = 1`,
		`UPDATE agent_profiles SET name = ' a' || char(10) || 'b ' WHERE id = 2`,
		`UPDATE agent_profiles SET name = '`+long+`' WHERE id = 3`,
		`UPDATE agent_profiles SET params = '{"api_key": "sk-hidden", "x": 1}' WHERE id = 4`,
		`UPDATE agent_profiles SET params = 'NaN', tools = '[1]', capability = 'all', max_parallel = -1 WHERE id = 5`,
		`UPDATE nodes SET agent_profile_id = 99 WHERE plan_id = 9 AND node_id = 8`)})
	want := "42 > agent 42,  a\nb  > ab, " + long + " > " + long[:80*len("長")] + ", by-env, slow, careful"
	if diff := cmp.Diff(want, became(out)); diff != "" {
		t.Error(diff)
	}
	for query, want := range map[string]string{
		`SELECT params FROM profiles WHERE id = 4`:                                        `{"x":1}`,
		`SELECT api_key FROM profile_keys WHERE profile_id = 4`:                           "sk-hidden",
		`SELECT params || tools || capability || max_parallel FROM profiles WHERE id = 5`: "{}{}0",
		`SELECT profile_id FROM nodes WHERE plan_id = 9 AND node_id = 8`:                  "0",
	} {
		if got := one[string](t, s, query); got != want {
			t.Errorf("%s: got %q, want %q", query, got, want)
		}
	}
	for _, part := range []string{`"42" is called "agent 42"`, "kept apart", "params that are no JSON object", "tools that are no JSON object", `capability "all"`} {
		if !slices.ContainsFunc(out.Notes, func(n string) bool { return strings.Contains(n, part) }) {
			t.Errorf("no note says %q: %q", part, out.Notes)
		}
	}
	for _, n := range out.Notes {
		if strings.Contains(n, "sk-") {
			t.Errorf("a note holds a key: %s", n)
		}
	}
}
