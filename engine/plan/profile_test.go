package plan

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestChoice(t *testing.T) {
	for value, ok := range map[string]bool{"": true, "read": true, "full": true, "Full": false, "root": false, " read": false} {
		err := Choice("capability", value, Capabilities)
		if (err == nil) != ok {
			t.Errorf("capability %q: %v", value, err)
		}
		if err == nil {
			continue
		}
		for _, part := range []string{"capability", `"` + value + `"`, "read, run, edit, full"} {
			if KindOf(err) != Invalid || !strings.Contains(err.Error(), part) {
				t.Errorf("capability %q is refused with %v, which does not name %s", value, err, part)
			}
		}
	}
}

func TestProfileNames(t *testing.T) {
	for name, ok := range map[string]bool{
		"claude": true, "gpt 4o / mini": true, "42b": true, "ä🎉": true, strings.Repeat("é", 100): true, "-1": true,
		"": false, "  ": false, " a": false, "a\n": false, "a\nb": false, "a\x00": false, "a\x7f": false,
		"42": false, "0": false, strings.Repeat("a", 101): false,
	} {
		err := CheckProfileName(name)
		if (err == nil) != ok || err != nil && (KindOf(err) != Invalid || !strings.HasPrefix(err.Error(), "name ")) {
			t.Errorf("name %q: %v; want it accepted: %v", name, err, ok)
		}
	}
}

func TestHarnessAlias(t *testing.T) {
	for in, want := range map[string]string{"claude-sdk": "claude", "claude": "claude", "openai": "openai", "": ""} {
		if got := HarnessAlias(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

func TestEffectiveCapability(t *testing.T) {
	server := Server{DefaultCapability: "edit"}
	for _, c := range []struct {
		name       string
		p          *Profile
		capability string
		source     string
	}{
		{"no profile", nil, "edit", FromDefault},
		{"unset", &Profile{}, "edit", FromDefault},
		{"set", &Profile{Capability: "read"}, "read", FromProfile},
		{"set beats raw settings", &Profile{Capability: "run", PermissionMode: "acceptEdits"}, "run", FromProfile},
		{"raw permission mode", &Profile{PermissionMode: "acceptEdits"}, "edit", FromCustom},
		{"raw preset", &Profile{Tools: json.RawMessage(`{"preset":"all"}`)}, "edit", FromCustom},
		{"raw allow", &Profile{Tools: json.RawMessage(`{"allow":["bash"]}`)}, "edit", FromCustom},
		{"raw deny", &Profile{Tools: json.RawMessage(`{"deny":["bash"]}`)}, "edit", FromCustom},
		{"tools that change nothing", &Profile{Tools: json.RawMessage(`{"mcp":true,"preset":null,"allow":[],"deny":[]}`)}, "edit", FromDefault},
		{"tools that cannot be read", &Profile{Tools: json.RawMessage(`[]`)}, "edit", FromDefault},
	} {
		capability, source := server.EffectiveCapability(c.p)
		if capability != c.capability || source != c.source {
			t.Errorf("%s: got %s by %s, want %s by %s", c.name, capability, source, c.capability, c.source)
		}
	}
}

func TestReviewCapability(t *testing.T) {
	for _, c := range []struct {
		name string
		p    *Profile
		want string
	}{
		{"no profile", nil, "run"},
		{"whatever the profile allows for steps", &Profile{Capability: "full"}, "run"},
		{"its own setting", &Profile{Params: json.RawMessage(`{"review_capability":"read","speed":2}`)}, "read"},
		{"an empty setting", &Profile{Params: json.RawMessage(`{"review_capability":""}`)}, "run"},
		{"a setting of another type", &Profile{Params: json.RawMessage(`{"review_capability":1}`)}, "run"},
	} {
		if got := ReviewCapability(c.p); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}
