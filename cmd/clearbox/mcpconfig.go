package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
)

const configText = `
CLIENT is claude (Claude Code), codex, cursor, vscode or gemini; with it, only the
text for its configuration file is printed. Without, all are, with where they go.
The address is that of --server, or of --host and --port. Where the server needs a
token the configuration names the variable CLEARBOX_AUTH_TOKEN, never the token.

examples:
  clearbox mcp-config
  clearbox mcp-config claude > .mcp.json
  clearbox mcp-config codex --port 9000 >> ~/.codex/config.toml
  clearbox mcp-config cursor --observe`

// connection is what a client has to know to connect.
type connection struct {
	name  string // under which the client knows the server
	url   string
	token bool // one is needed
}

// mcpClient is a program that can be connected.
type mcpClient struct {
	id, name string
	file     string // where its configuration goes
	command  func(connection) string
	config   func(connection) string
}

// mcpClients are the clients that are known, and what each wants to read.
func mcpClients() []mcpClient {
	return []mcpClient{
		{"claude", "Claude Code", ".mcp.json in a project", claudeCommand, func(c connection) string {
			return serversJSON("mcpServers", c, entry{Type: "http", URL: c.url, Headers: c.headers("${CLEARBOX_AUTH_TOKEN}")})
		}},
		{"codex", "Codex", "~/.codex/config.toml", codexCommand, codexConfig},
		{"cursor", "Cursor", "~/.cursor/mcp.json", nil, func(c connection) string {
			return serversJSON("mcpServers", c, entry{URL: c.url, Headers: c.headers("${env:CLEARBOX_AUTH_TOKEN}")})
		}},
		{"vscode", "VS Code", ".vscode/mcp.json in a project", nil, vscodeConfig},
		{"gemini", "Gemini CLI", "~/.gemini/settings.json", geminiCommand, func(c connection) string {
			return serversJSON("mcpServers", c, entry{HTTPURL: c.url, Headers: c.headers("${CLEARBOX_AUTH_TOKEN}")})
		}},
	}
}

// entry is a server in a client's configuration.
type entry struct {
	Type    string            `json:"type,omitempty"`
	URL     string            `json:"url,omitempty"`
	HTTPURL string            `json:"httpUrl,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

// headers are those that present the token, written as the client writes the
// variable that holds it.
func (c connection) headers(variable string) map[string]string {
	if !c.token {
		return nil
	}
	return map[string]string{"Authorization": "Bearer " + variable}
}

func serversJSON(key string, c connection, e entry) string {
	return pretty(map[string]map[string]entry{key: {c.name: e}})
}

func pretty(v any) string {
	var b bytes.Buffer
	if err := printJSON(&b, v); err != nil { // of plain values it does not fail
		return err.Error()
	}
	return strings.TrimSpace(b.String())
}

func claudeCommand(c connection) string {
	line := "claude mcp add --transport http --scope user " + c.name + " " + c.url
	if c.token {
		line += ` --header "Authorization: Bearer $CLEARBOX_AUTH_TOKEN"`
	}
	return line
}

func codexCommand(c connection) string {
	line := "codex mcp add " + c.name + " --url " + c.url
	if c.token {
		line += " --bearer-token-env-var CLEARBOX_AUTH_TOKEN"
	}
	return line
}

func codexConfig(c connection) string {
	text := "[mcp_servers." + c.name + "]\nurl = " + quoted(c.url)
	if c.token {
		text += "\nbearer_token_env_var = \"CLEARBOX_AUTH_TOKEN\""
	}
	return text
}

func quoted(s string) string {
	b, _ := json.Marshal(s) // a string always encodes, and TOML reads it alike
	return string(b)
}

// vscodeConfig asks for the token: VS Code keeps it in its own safe.
func vscodeConfig(c connection) string {
	e := entry{Type: "http", URL: c.url, Headers: c.headers("${input:clearbox-token}")}
	if !c.token {
		return serversJSON("servers", c, e)
	}
	type input struct {
		Type        string `json:"type"`
		ID          string `json:"id"`
		Description string `json:"description"`
		Password    bool   `json:"password"`
	}
	return pretty(struct {
		Inputs  []input          `json:"inputs"`
		Servers map[string]entry `json:"servers"`
	}{[]input{{"promptString", "clearbox-token", "Token of the Clearbox server", true}}, map[string]entry{c.name: e}})
}

func geminiCommand(c connection) string {
	line := "gemini mcp add --scope user --transport http " + c.name + " " + c.url
	if c.token {
		line += ` --header "Authorization: Bearer $CLEARBOX_AUTH_TOKEN"`
	}
	return line
}

var serverName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// configCommand prints configurations.
func configCommand(s *streams, f *flags) action {
	name, observe := "", false
	f.add("",
		option{"observe", "", "for a session that does the work itself and is watched, instead of one that plans for agents", truth(&observe)},
		option{"name", "", "the `name` of the server in the client", text(&name, "clearbox")})
	r := remoteFlags(f)
	return func(_ context.Context, args []string) error {
		base, err := r.base()
		if err != nil {
			return err
		}
		if !serverName.MatchString(name) {
			return wrongUse("--name: %q must be letters, digits, - and _", name)
		}
		c := connection{name, base + "/mcp", r.tokenFile != "" || os.Getenv("CLEARBOX_AUTH_TOKEN") != ""}
		if observe {
			c.url += "/observe"
		}
		if len(args) == 1 {
			return printConfig(s, c, args[0])
		}
		printConfigs(s, c)
		return nil
	}
}

func printConfig(s *streams, c connection, id string) error {
	var known []string
	for _, m := range mcpClients() {
		if m.id == id {
			fmt.Fprintln(s.out, m.config(c))
			return nil
		}
		known = append(known, m.id)
	}
	return wrongUse("unknown client %q: it is one of %s", id, strings.Join(known, ", "))
}

func printConfigs(s *streams, c connection) {
	for i, m := range mcpClients() {
		if i > 0 {
			fmt.Fprintln(s.out)
		}
		fmt.Fprintf(s.out, "# %s\n", m.name)
		if m.command != nil {
			fmt.Fprintf(s.out, "run once:\n\n%s\n\nor, in ", indent(m.command(c)))
		} else {
			fmt.Fprint(s.out, "in ")
		}
		fmt.Fprintf(s.out, "%s:\n\n%s\n", m.file, indent(m.config(c)))
	}
}
