package plan

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// secretWords are what the names of secrets end in. token alone is not one of
// them: models have limits and marks of that name.
var secretWords = []string{"api_key", "apikey", "secret", "secret_key", "password", "passwd", "authorization", "access_token",
	"auth_token", "bearer_token", "private_key", "credentials"}

// SecretName reports whether a name looks like that of a secret.
func SecretName(name string) bool {
	plain := strings.ToLower(strings.ReplaceAll(name, "-", "_"))
	for _, w := range secretWords {
		if plain == w || strings.HasSuffix(plain, "_"+w) {
			return true
		}
	}
	isEnv := name == strings.ToUpper(name)
	return plain == "token" || isEnv && (strings.HasSuffix(name, "_TOKEN") || strings.HasSuffix(name, "_KEY"))
}

// checkSecrets adds the params that hold what looks like a secret: params can be
// read by everyone who sees the profile. A reference to a variable, ${NAME}, is
// none.
func checkSecrets(at string, value any, bad *Problems) {
	object, ok := value.(map[string]any)
	if !ok {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		text, isText := object[name].(string)
		if isText && text != "" && SecretName(name) && !strings.Contains(text, "${") {
			bad.Addf("%s must not hold %s, where everyone could read it: use the field api_key, or api_key_env", at, name)
			continue
		}
		below := at
		if at == "params" {
			below = at + "." + name
		}
		checkSecrets(below, object[name], bad)
	}
}

// CheckParams adds what is wrong with params whatever the harness: what looks
// like a secret, and a review capability that there is not.
func CheckParams(params json.RawMessage, bad *Problems) {
	var given map[string]any
	if json.Unmarshal(params, &given) != nil {
		return
	}
	checkSecrets("params", given, bad)
	switch review := given[ReviewParam].(type) {
	case nil:
	case string:
		bad.Add(Choice("params."+ReviewParam, review, Capabilities))
	default:
		bad.Addf("params.%s must be one of %s", ReviewParam, strings.Join(Capabilities, ", "))
	}
}

// ToolPresets are the sets of tools that a profile can name.
var ToolPresets = []string{"all", "readonly", "none"}

// CheckTools adds what is wrong with the tools of a profile. Further keys are
// the harness's own.
func CheckTools(tools json.RawMessage, bad *Problems) {
	var given map[string]json.RawMessage
	if json.Unmarshal(tools, &given) != nil {
		return
	}
	fault := func(name string, s Setting) {
		if v, ok := given[name]; ok {
			if text := s.Fault(v); text != "" {
				bad.Addf("tools.%s %s", name, text)
			}
		}
	}
	presets := Setting{Type: SettingText, Enum: []json.RawMessage{encoded("")}}
	for _, p := range ToolPresets {
		presets.Enum = append(presets.Enum, encoded(p))
	}
	fault("preset", presets)
	fault("allow", Setting{Type: SettingTexts})
	fault("deny", Setting{Type: SettingTexts})
	fault("mcp", Setting{Type: SettingBoolean})
}
