package views

// StartPage tells how to begin.
type StartPage struct{ Clients []Client }

// Client is a program that can be connected, and how.
type Client struct {
	ID, Name, How string
	Code          string
}

// NewStartPage makes the start page. base is the address of this server, e.g.
// "http://127.0.0.1:8765"; auth says that clients must present a token.
func NewStartPage(base string, auth bool) *StartPage {
	p := &StartPage{}
	header, json, toml := "", "", ""
	if auth {
		header = ` --header "Authorization: Bearer $CLEARBOX_AUTH_TOKEN"`
		json = `, "headers": { "Authorization": "Bearer TOKEN" }`
		toml = "\nbearer_token_env_var = \"CLEARBOX_AUTH_TOKEN\""
	}
	p.Clients = []Client{
		{"claude", "Claude Code", "Run once in a terminal:",
			"claude mcp add --transport http --scope user clearbox " + base + "/mcp" + header},
		{"codex", "Codex", "Add to ~/.codex/config.toml:",
			"[mcp_servers.clearbox]\nurl = \"" + base + "/mcp\"" + toml},
		{"cursor", "Cursor", "Add to ~/.cursor/mcp.json:",
			"{ \"mcpServers\": { \"clearbox\": { \"url\": \"" + base + "/mcp\"" + json + " } } }"},
		{"vscode", "VS Code", "Add to .vscode/mcp.json:",
			"{ \"servers\": { \"clearbox\": { \"type\": \"http\", \"url\": \"" + base + "/mcp\"" + json + " } } }"},
		{"gemini", "Gemini CLI", "Add to ~/.gemini/settings.json:",
			"{ \"mcpServers\": { \"clearbox\": { \"httpUrl\": \"" + base + "/mcp\"" + json + " } } }"},
		{"observe", "Watch a session's own work", "A session that does the work itself and only reports here uses another address:",
			"claude mcp add --transport http clearbox " + base + "/mcp/observe" + header},
	}
	return p
}
