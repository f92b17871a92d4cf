package handlers

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Connection is what an MCP client has to know to connect.
type Connection struct {
	Name  string // under which the client knows the server
	URL   string
	Token bool // one is needed
}

// MCPClient is a program that can be connected.
type MCPClient struct {
	ID, Name string
	File     string                  // where its configuration goes
	Command  func(Connection) string // to be run once; nil when it has none
	Config   func(Connection) string
}

// MCPClients are the clients that are known, and what each wants to read. The
// start page and clearbox mcp-config show the same.
func MCPClients() []MCPClient {
	return []MCPClient{
		{"claude", "Claude Code", ".mcp.json in a project", claudeCommand, func(c Connection) string {
			return serversJSON("mcpServers", c, entry{Type: "http", URL: c.URL, Headers: c.headers("${CLEARBOX_AUTH_TOKEN}")})
		}},
		{"codex", "Codex", "~/.codex/config.toml", codexCommand, codexConfig},
		{"cursor", "Cursor", "~/.cursor/mcp.json", nil, func(c Connection) string {
			return serversJSON("mcpServers", c, entry{URL: c.URL, Headers: c.headers("${env:CLEARBOX_AUTH_TOKEN}")})
		}},
		{"vscode", "VS Code", ".vscode/mcp.json in a project", nil, vscodeConfig},
		{"gemini", "Gemini CLI", "~/.gemini/settings.json", geminiCommand, func(c Connection) string {
			return serversJSON("mcpServers", c, entry{HTTPURL: c.URL, Headers: c.headers("${CLEARBOX_AUTH_TOKEN}")})
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
func (c Connection) headers(variable string) map[string]string {
	if !c.Token {
		return nil
	}
	return map[string]string{"Authorization": "Bearer " + variable}
}

func serversJSON(key string, c Connection, e entry) string {
	return pretty(map[string]map[string]entry{key: {c.Name: e}})
}

func pretty(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil { // of plain values it does not fail
		return err.Error()
	}
	return strings.TrimSpace(b.String())
}

func claudeCommand(c Connection) string {
	line := "claude mcp add --transport http --scope user " + c.Name + " " + c.URL
	if c.Token {
		line += ` --header "Authorization: Bearer $CLEARBOX_AUTH_TOKEN"`
	}
	return line
}

func codexCommand(c Connection) string {
	line := "codex mcp add " + c.Name + " --url " + c.URL
	if c.Token {
		line += " --bearer-token-env-var CLEARBOX_AUTH_TOKEN"
	}
	return line
}

func codexConfig(c Connection) string {
	text := "[mcp_servers." + c.Name + "]\nurl = " + quoted(c.URL)
	if c.Token {
		text += "\nbearer_token_env_var = \"CLEARBOX_AUTH_TOKEN\""
	}
	return text
}

func quoted(s string) string {
	b, _ := json.Marshal(s) // a string always encodes, and TOML reads it alike
	return string(b)
}

// vscodeConfig asks for the token: VS Code keeps it in its own safe.
func vscodeConfig(c Connection) string {
	e := entry{Type: "http", URL: c.URL, Headers: c.headers("${input:clearbox-token}")}
	if !c.Token {
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
	}{[]input{{"promptString", "clearbox-token", "Token of the Clearbox server", true}}, map[string]entry{c.Name: e}})
}

func geminiCommand(c Connection) string {
	line := "gemini mcp add --scope user --transport http " + c.Name + " " + c.URL
	if c.Token {
		line += ` --header "Authorization: Bearer $CLEARBOX_AUTH_TOKEN"`
	}
	return line
}
