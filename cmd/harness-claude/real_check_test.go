package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clearbox-go/clearbox/internal/scriptedmessages"
	"github.com/clearbox-go/clearbox/plugin"
)

// The real program is asked for its version and its login.
func TestRealCheck(t *testing.T) {
	path := claude(t)
	h := (&played{state: t.TempDir()}).harness(scene{env: map[string]string{"HOME": t.TempDir()}})
	check := func(p plugin.Profile, connect bool) plugin.Report {
		r, err := h.Check(t.Context(), p, connect)
		must(t, err)
		return r
	}
	account := t.TempDir()
	p := plugin.Profile{Params: encoded(t, m{"path": path, "config_dir": account})}
	for _, connect := range []bool{false, true} {
		if r := check(p, connect); r.OK || r.Field != "params.config_dir" || !strings.Contains(r.Detail, "not logged in") {
			t.Errorf("without a login: %+v", r)
		}
	}
	must(t, os.WriteFile(filepath.Join(account, ".credentials.json"), []byte(`{"claudeAiOauth":{"accessToken":"sk-ant-oat01-x","refreshToken":"sk-ant-ort01-x",`+
		`"expiresAt":4102444800000,"scopes":["user:inference","user:profile"],"subscriptionType":"max"}}`), 0o600))
	r := check(p, true)
	if !r.OK || r.Credential != "login" {
		t.Errorf("with a login: %+v", r)
	}
	wantIn(t, r.Detail, "claude 2.", path, "logged in (claude.ai, max)", account, "can read this login")

	srv := scriptedmessages.New()
	srv.Key = apiKey
	p = plugin.Profile{Params: encoded(t, m{"path": path}), BaseURL: serve(t, srv), Secret: apiKey, Credential: "env:MY_KEY"}
	if r := check(p, true); !r.OK || r.Reachable == nil || !*r.Reachable || r.Credential != "env:MY_KEY" || len(srv.Requests()) > 0 {
		t.Errorf("with a key: %+v", r)
	}
}
