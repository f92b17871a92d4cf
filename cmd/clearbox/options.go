package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// options are what the server is told on its command line.
type options struct {
	host         string
	port         int
	allowedHosts list
	authToken    string // path of the file that holds it

	mcpMayApprove bool
	onExit        string
	logFormat     string
	logLevel      string
	engine        engine.Options
}

// table lists every flag with its variable, default and help, in the order in
// which help shows them.
func (o *options) table() []option {
	e := &o.engine
	return []option{
		{"host", "CLEARBOX_HOST", "address to listen on", text(&o.host, "127.0.0.1")},
		{"port", "CLEARBOX_PORT", "port to listen on; 0 takes a free one", number(&o.port, 8765)},
		{"allowed-host", "CLEARBOX_ALLOWED_HOSTS", "further `name` by which browsers and clients may reach the server; repeatable", many(&o.allowedHosts)},
		{"auth-token-file", "CLEARBOX_AUTH_TOKEN_FILE", "`file` with the token that clients must present; required when listening beyond this machine", text(&o.authToken, "")},
		{"db", "CLEARBOX_DB", "database `file`", text(&e.DB, filepath.Join(dataDir(), "clearbox.sqlite"))},
		{"workdir", "CLEARBOX_WORKDIR", "`folder` for plans without a working directory (default: workspace beside the database)", text(&e.WorkDir, "")},
		{"mock", "", "play all steps with the mock agent: no model, no cost [CLEARBOX_AGENT=mock]", truth(&e.Mock)},
		{"mock-speed", "", "how much faster than life the mock agent plays", decimal(&e.MockSpeed, 1)},
		{"max-concurrency", "CLEARBOX_MAX_CONCURRENCY", "agents at work at once, over all plans", number(&e.MaxConcurrency, 3)},
		{"agent-profile", "CLEARBOX_AGENT_PROFILE", "`name` of the agent that runs steps for which none is chosen (default: claude, or mock with --mock)", text(&e.AgentProfile, "")},
		{"default-capability", "CLEARBOX_DEFAULT_CAPABILITY", "what agents may do whose profile does not say: read, run, edit or full", text(&e.DefaultCapability, "full")},
		{"permission-mode", "CLEARBOX_PERMISSION_MODE", "permission mode of claude agents at capability full", text(&e.Claude.PermissionMode, "acceptEdits")},
		{"model", "CLEARBOX_MODEL", "model of claude agents whose profile names none", text(&e.Claude.Model, "")},
		{"max-turns", "", "turns of claude agents whose profile names no limit", number(&e.Claude.MaxTurns, 0)},
		{"openai-base-url", "OPENAI_BASE_URL", "`URL` of the endpoint of the agent \"openai\", when it is made for the first time", text(&e.OpenAI.BaseURL, "")},
		{"openai-model", "CLEARBOX_OPENAI_MODEL", "its model", text(&e.OpenAI.Model, "")},
		{"openai-api-key-env", "", "`NAME` of the variable that holds its key", text(&e.OpenAI.KeyEnv, "")},
		{"isolation", "CLEARBOX_ISOLATION", "the least isolation of steps: none or worktree (each step works in a copy of its own)", text(&e.Isolation, "none")},
		{"no-snapshots", "", "take no snapshots: nothing is known of what steps change", truth(&e.NoSnapshots)},
		{"planner-agent", "CLEARBOX_PLANNER_AGENT", "`name` of the agent that makes plans from goals (default: the default agent)", text(&e.PlannerAgent, "")},
		{"planner-max-nodes", "", "steps that a plan made from a goal may have", number(&e.PlannerMaxNodes, 40)},
		{"mcp-may-approve", "", "let planning sessions approve plans over MCP; without it only people do", truth(&o.mcpMayApprove)},
		{"no-agent-mcp", "", "give built-in agents no Clearbox tools, so that they cannot break down their steps", truth(&e.NoAgentMCP)},
		{"harness-dir", "CLEARBOX_HARNESS_DIR", "`folder` to look for harness binaries in, before the usual ones; repeatable", many((*list)(&e.HarnessDirs))},
		{"pass-env", "", "`NAME` of a variable that harnesses get beyond the usual ones; repeatable", many((*list)(&e.PassEnv))},
		{"orphan-after", "", "how long agents work on when the server is gone and does not come back", span(&e.OrphanAfter, 12*time.Hour)},
		{"on-exit", "", "what SIGTERM does to agents at work: stop or detach (the next server finds them again)", text(&o.onExit, "stop")},
		{"log-format", "CLEARBOX_LOG_FORMAT", "text or json (default: text on a terminal, else json)", text(&o.logFormat, "")},
		{"log-level", "", "debug, info, warn or error", text(&o.logLevel, "info")},
	}
}

// serverFlags adds the flags of the server to those of a command.
func serverFlags(f *flags) *options {
	o := &options{}
	f.add("", o.table()...)
	return o
}

// complete sets what follows from other options and the environment, and refuses
// what cannot work.
func (o *options) complete(f *flags, env func(string) string) error {
	if env("CLEARBOX_AGENT") == "mock" && !f.given["mock"] {
		o.engine.Mock = true
	}
	if err := o.check(); err != nil {
		return usageError{err}
	}
	return nil
}

// check refuses values that cannot work.
func (o *options) check() error {
	var bad plan.Problems
	if o.port < 0 || o.port > 65535 {
		bad.Addf("--port: %d is not a port", o.port)
	}
	if o.engine.MaxConcurrency < 1 {
		bad.Addf("--max-concurrency must be at least 1")
	}
	if o.engine.OrphanAfter <= 0 {
		bad.Addf("--orphan-after must be above 0")
	}
	if o.engine.MockSpeed <= 0 {
		bad.Addf("--mock-speed must be above 0")
	}
	if o.engine.Isolation != "none" && o.engine.Isolation != "worktree" {
		bad.Addf("--isolation must be none or worktree")
	}
	if o.engine.PlannerMaxNodes < 1 {
		bad.Addf("--planner-max-nodes must be above 0")
	}
	bad.Add(plan.Choice("--default-capability", o.engine.DefaultCapability, plan.Capabilities))
	bad.Add(plan.Choice("--on-exit", o.onExit, []string{string(engine.ExitStop), string(engine.ExitDetach)}))
	bad.Add(plan.Choice("--log-format", o.logFormat, []string{"text", "json"}))
	bad.Add(plan.Choice("--log-level", o.logLevel, []string{"debug", "info", "warn", "error"}))
	if err := bad.Err("wrong option:"); err != nil {
		return errors.New(strings.ReplaceAll(err.Error(), "\n-", ""))
	}
	var err error
	o.engine.DB, err = filepath.Abs(o.engine.DB)
	return err
}

// open reports whether the server listens beyond this machine.
func (o *options) open() bool {
	if o.host == "localhost" {
		return false
	}
	ip := net.ParseIP(o.host)
	return ip == nil || !ip.IsLoopback()
}

// token returns what clients must present, "" when nothing. Listening beyond
// this machine without one is refused.
func (o *options) token(env func(string) string) (string, error) {
	token := env("CLEARBOX_AUTH_TOKEN")
	if o.authToken != "" {
		b, err := os.ReadFile(o.authToken)
		if err != nil {
			return "", fmt.Errorf("--auth-token-file: %w", err)
		}
		token = strings.TrimSpace(string(b))
		if token == "" {
			return "", fmt.Errorf("--auth-token-file: %s is empty", o.authToken)
		}
	}
	if token == "" && o.open() {
		return "", fmt.Errorf("--host %s is reachable from other machines, where anyone could run agents here: "+
			"give --auth-token-file (or CLEARBOX_AUTH_TOKEN), or listen on 127.0.0.1", o.host)
	}
	if token != "" && len(token) < 16 {
		return "", errors.New("the auth token has fewer than 16 characters: make one with `openssl rand -hex 32`")
	}
	return token, nil
}

// dataDir is where this platform keeps data of programs.
func dataDir() string {
	home, err := os.UserHomeDir()
	if err != nil {
		home = "."
	}
	dir := filepath.Join(home, ".local", "share")
	switch {
	case os.Getenv("XDG_DATA_HOME") != "":
		dir = os.Getenv("XDG_DATA_HOME")
	case runtime.GOOS == "darwin":
		dir = filepath.Join(home, "Library", "Application Support")
	case runtime.GOOS == "windows" && os.Getenv("LOCALAPPDATA") != "":
		dir = os.Getenv("LOCALAPPDATA")
	}
	return filepath.Join(dir, "clearbox")
}

// harnessDirs returns where harness binaries are looked for, in order.
func (o *options) harnessDirs() []string {
	dirs := append(slices.Clone(o.engine.HarnessDirs), filepath.Join(filepath.Dir(o.engine.DB), "harnesses"))
	if self, err := os.Executable(); err == nil {
		dirs = append(dirs, filepath.Dir(self))
	}
	return dirs
}
