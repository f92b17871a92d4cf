package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/clearbox-go/clearbox/plugin"
	"github.com/clearbox-go/clearbox/plugin/toolkit/secrets"
	"github.com/clearbox-go/clearbox/plugin/toolkit/settings"
)

const (
	checkTime  = 20 * time.Second
	sampleSize = 10
	maxAnswer  = 4 << 20
)

// Check implements [plugin.Harness]. The program is asked for its version. With connect
// it is also asked whether it is logged in, or the endpoint for its list of models;
// neither costs anything.
func (h *harness) Check(ctx context.Context, p plugin.Profile, connect bool) (plugin.Report, error) {
	scrub := secrets.New(p.Secret, h.getenv("ANTHROPIC_API_KEY"))
	c := &checker{harness: h, report: plugin.Report{Credential: p.Credential, ModelsSample: []string{}}}
	if bad := c.run(ctx, p, connect); bad != nil {
		c.report.OK, c.report.Field, c.report.Detail = false, bad.Field, bad.Text
	}
	c.report.Detail = scrub.Text(c.report.Detail)
	if c.report.Credential == "" {
		c.report.Credential = "none"
	}
	return c.report, nil
}

// checker fills in a report.
type checker struct {
	*harness
	set     setup
	program string
	version string
	report  plugin.Report
}

func (c *checker) run(ctx context.Context, p plugin.Profile, connect bool) *settings.Fault {
	var bad *settings.Fault
	if c.set, bad = c.readProfile(p); bad != nil {
		return bad
	}
	c.report.Credential = c.set.access.credential(p)
	if c.set.access.base != nil {
		c.report.BaseURL = c.set.access.base.String()
	}
	if c.program, bad = c.findProgram(c.set.program); bad != nil {
		return bad
	}
	if c.version, bad = programVersion(ctx, c.program); bad != nil {
		return bad
	}
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	switch {
	case c.set.access.base != nil && connect:
		return c.endpoint(ctx)
	case c.set.access.base != nil:
		c.fine("whether %s answers was not tried", c.report.BaseURL)
	case connect:
		return c.login(ctx)
	default:
		return c.loginFile()
	}
	return nil
}

// fine makes the report a good one.
func (c *checker) fine(format string, args ...any) {
	c.report.OK = true
	c.report.Detail = fmt.Sprintf("claude %s at %s; ", c.version, c.program) + fmt.Sprintf(format, args...)
}

// configDir is the configuration directory of the login.
func (c *checker) configDir() string {
	if c.set.configDir != "" {
		return c.set.configDir
	}
	return filepath.Join(c.getenv("HOME"), ".claude")
}

// loginFile looks for a login without starting anything. Only on Linux is it a file
// whose absence says something, and variables can stand for it.
func (c *checker) loginFile() *settings.Fault {
	_, err := os.Stat(filepath.Join(c.configDir(), ".credentials.json"))
	if err != nil && runtime.GOOS == "linux" && !c.loginByEnvironment() {
		return settings.Wrong("params.config_dir", "%s", c.set.logIn())
	}
	c.fine("it uses the login in %s, which was not tried. %s", c.configDir(), exposed)
	return nil
}

// exposed is what the owner of a login has to know.
const exposed = "An agent that runs commands can read this login; a key (api_key_env) it cannot"

// loginByEnvironment says whether variables that were passed on stand for a login.
func (c *checker) loginByEnvironment() bool {
	for _, name := range []string{"ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"} {
		if c.getenv(name) != "" {
			return true
		}
	}
	return false
}

// login asks the program whether it is logged in.
func (c *checker) login(ctx context.Context) *settings.Fault {
	env := []string{"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1"}
	if c.set.configDir != "" {
		env = append(env, "CLAUDE_CONFIG_DIR="+c.set.configDir)
	}
	out, err := say(ctx, c.program, env, "auth", "status")
	var status struct {
		LoggedIn *bool  `json:"loggedIn"`
		Method   string `json:"authMethod"`
		Plan     string `json:"subscriptionType"`
	}
	switch jerr := json.Unmarshal(out, &status); {
	case ctx.Err() != nil:
		return settings.Wrong("params.path", "claude auth status gave no answer: %v", err)
	case jerr != nil || status.LoggedIn == nil:
		c.fine("whether it is logged in is not known: this version does not tell")
	case !*status.LoggedIn:
		return settings.Wrong("params.config_dir", "%s", c.set.logIn())
	default:
		how := status.Method
		if status.Plan != "" {
			how += ", " + status.Plan
		}
		c.fine("it is logged in (%s) with %s. %s", how, c.configDir(), exposed)
	}
	return nil
}

// endpoint asks for the list of models.
func (c *checker) endpoint(ctx context.Context) *settings.Fault {
	status, body, err := c.models(ctx)
	reached := err == nil
	c.report.Reachable = &reached
	if err != nil {
		why := rootCause(err).Error()
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			why = fmt.Sprintf("no answer within %v", checkTime)
		}
		return settings.Wrong("base_url", "could not connect to %s: %s", c.report.BaseURL, why)
	}
	switch {
	case status == http.StatusOK:
		return c.listed(body)
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return settings.Wrong("api_key_env", "%s", c.set.access.refused(failure{status: status, said: apiMessage(body)}))
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed:
		c.fine("%s answers; it has no list of models, so whether the key and the model fit is not known", c.report.BaseURL)
	default:
		return settings.Wrong("base_url", "%s answered with %d: %s", c.report.BaseURL, status, oneLine(apiMessage(body)))
	}
	return nil
}

func (c *checker) models(ctx context.Context) (int, []byte, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, c.set.access.base.JoinPath("v1/models").String()+"?limit=1000", nil)
	if err != nil {
		return 0, nil, err
	}
	c.set.access.authorize(q.Header)
	q.Header.Set("Anthropic-Version", "2023-06-01")
	if c.set.access.token {
		q.Header.Set("Anthropic-Beta", "oauth-2025-04-20")
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	resp, err := client.Do(q)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	return resp.StatusCode, body, err
}

// listed looks for the model in the list. Short names such as opus, and the program's
// default, are the program's business.
func (c *checker) listed(body []byte) *settings.Fault {
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if json.Unmarshal(body, &list) != nil {
		return settings.Wrong("base_url", "%s does not speak the Messages API: its list of models is not JSON", c.report.BaseURL)
	}
	var ids []string
	for _, m := range list.Data {
		ids = append(ids, m.ID)
	}
	c.report.ModelsSample = append(c.report.ModelsSample, ids[:min(len(ids), sampleSize)]...)
	name := strings.TrimSuffix(c.set.model, "[1m]") // a variant of the program's own
	switch has := slices.Contains(ids, name); {
	case has:
		c.report.ModelListed = &has
		c.fine("%s answers and has the model '%s'", c.report.BaseURL, name)
	case strings.HasPrefix(name, "claude-") && len(ids) > 0:
		c.report.ModelListed = &has
		return settings.Wrong("model", "%s answers, but the model '%s' is not among the %d that it lists: check the model's name", c.report.BaseURL, name, len(ids))
	default:
		c.fine("%s answers", c.report.BaseURL)
	}
	return nil
}

// apiMessage takes the message out of an error of the API.
func apiMessage(body []byte) string {
	var e struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &e) == nil && e.Error.Message != "" {
		return e.Error.Message
	}
	return string(body[:min(len(body), 1000)])
}
