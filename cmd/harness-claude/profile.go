package main

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clearbox-go/clearbox/plugin"
	"github.com/clearbox-go/clearbox/plugin/toolkit/settings"
)

// officialURL is where Anthropic's own API is, without /v1 as the program wants it.
const officialURL = "https://api.anthropic.com"

// setup is a profile that has been read and found good.
type setup struct {
	params
	model  string
	access access
	choice choice
}

// access is how the program gets to a model.
type access struct {
	key   string   // "" with the login, and with endpoints that want none
	base  *url.URL // of the endpoint behind the proxy; nil with the login
	token bool     // key is the long-lived token of a login, from `claude setup-token`
}

// readProfile checks a profile without touching the network.
func (h *harness) readProfile(p plugin.Profile) (setup, *settings.Fault) {
	s := setup{model: strings.TrimSpace(p.Model)}
	var bad *settings.Fault
	if s.access, bad = h.readAccess(p); bad != nil {
		return s, bad
	}
	if s.params, bad = readParams(p.Params); bad != nil {
		return s, bad
	}
	if s.choice, bad = readChoice(p.Tools); bad != nil {
		return s, bad
	}
	if bad := h.readMode(&s, p.PermissionMode); bad != nil {
		return s, bad
	}
	if s.configDir == "" {
		return s, nil
	}
	s.configDir, bad = h.folder("params.config_dir", s.configDir)
	return s, bad
}

// readMode takes the mode of the params before the profile's.
func (h *harness) readMode(s *setup, given string) *settings.Fault {
	if !s.modeSet && given != "" {
		if !slices.Contains(modes, given) {
			return settings.Wrong("permission_mode", "permission_mode must be one of %s, not %q", strings.Join(modes, ", "), given)
		}
		s.mode = given
	}
	if s.mode == "bypassPermissions" && h.root && h.getenv("IS_SANDBOX") == "" {
		return settings.Wrong("permission_mode", "permission_mode bypassPermissions is refused by the program when it runs as root: choose another mode (capability full pre-approves all tools anyway), or run Clearbox as another user")
	}
	return nil
}

// folder checks that a setting names a folder that is there.
func (h *harness) folder(field, given string) (string, *settings.Fault) {
	path := h.expand(given)
	if !filepath.IsAbs(path) {
		return "", settings.Wrong(field, "%s must be an absolute path, or begin with ~/, and not %q", field, given)
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return "", settings.Wrong(field, "%s: there is no folder %s; make it by logging in: CLAUDE_CONFIG_DIR=%s claude", field, path, path)
	}
	return path, nil
}

// expand replaces a leading ~.
func (h *harness) expand(path string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		return filepath.Join(h.getenv("HOME"), path[1:])
	}
	return path
}

// readAccess finds out whether a key or the login is used. A key that is named and
// missing is a fault: to use the login in its place would charge the wrong account.
func (h *harness) readAccess(p plugin.Profile) (access, *settings.Fault) {
	a := access{key: strings.TrimSpace(p.Secret)}
	if a.key == "" && p.KeyEnv != "" {
		return a, settings.Wrong("api_key_env", "there is no api key: the environment variable %s, named by api_key_env, is not set where Clearbox runs", p.KeyEnv)
	}
	if a.key == "" && p.BaseURL == "" {
		a.key = strings.TrimSpace(h.getenv("ANTHROPIC_API_KEY")) // the server passes it on only when told to
	}
	if strings.ContainsFunc(a.key, func(r rune) bool { return r < ' ' || r > '~' }) {
		return a, settings.Wrong("api_key", "the api key holds characters that no key has, such as a line break")
	}
	if a.key == "" && p.BaseURL == "" {
		return a, nil
	}
	a.token = strings.HasPrefix(a.key, "sk-ant-oat")
	var bad *settings.Fault
	a.base, bad = readBase(p.BaseURL)
	return a, bad
}

func readBase(text string) (*url.URL, *settings.Fault) {
	text = strings.TrimSpace(text)
	if text == "" {
		text = officialURL
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, settings.Wrong("base_url", "base_url is not a URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, settings.Wrong("base_url", "base_url must begin with http:// or https://, and not with %q", u.Scheme)
	case u.Hostname() == "":
		return nil, settings.Wrong("base_url", "base_url names no host")
	case u.User != nil:
		return nil, settings.Wrong("base_url", "base_url must not hold a user or password: use api_key_env")
	}
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/messages")
	u.Path = strings.TrimRight(strings.TrimSuffix(u.Path, "/v1"), "/") // the program adds it itself
	u.RawPath, u.RawQuery, u.Fragment = "", "", ""
	return u, nil
}

// official says whether Anthropic's own API is behind the proxy.
func (a access) official() bool {
	host := a.base.Hostname()
	return host == "anthropic.com" || strings.HasSuffix(host, ".anthropic.com")
}

// credential names where the right to use the model comes from, for reports.
func (a access) credential(p plugin.Profile) string {
	switch {
	case a.key != "" && strings.TrimSpace(p.Secret) == "":
		return "env:ANTHROPIC_API_KEY"
	case a.key != "" && p.Credential != "":
		return p.Credential
	case a.base == nil:
		return "login"
	}
	return "none"
}

// stateDir is the program's configuration directory for runs with a key, apart from
// the user's own: sessions are kept there, so that a later run can go on with one.
func (h *harness) stateDir() string {
	base := h.getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(base) {
		home := h.getenv("HOME")
		if !filepath.IsAbs(home) {
			return ""
		}
		base = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(base, "clearbox", "claude")
}

// configFolder returns the configuration directory of a run, made when it is ours, or
// "" for the program's own default. other is used where there is no home.
func (h *harness) configFolder(s setup, other string) (string, error) {
	if s.configDir != "" || s.access.base == nil {
		return s.configDir, nil
	}
	dir := h.stateDir()
	if dir == "" {
		dir = other
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the folder for the program's sessions: %w", err)
	}
	return dir, nil
}
