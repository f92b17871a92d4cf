package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/clearbox-go/clearbox/handlers"
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
		c := handlers.Connection{Name: name, URL: base + "/mcp", Token: r.tokenFile != "" || os.Getenv("CLEARBOX_AUTH_TOKEN") != ""}
		if observe {
			c.URL += "/observe"
		}
		if len(args) == 1 {
			return printConfig(s, c, args[0])
		}
		printConfigs(s, c)
		return nil
	}
}

func printConfig(s *streams, c handlers.Connection, id string) error {
	var known []string
	for _, m := range handlers.MCPClients() {
		if m.ID == id {
			fmt.Fprintln(s.out, m.Config(c))
			return nil
		}
		known = append(known, m.ID)
	}
	return wrongUse("unknown client %q: it is one of %s", id, strings.Join(known, ", "))
}

func printConfigs(s *streams, c handlers.Connection) {
	for i, m := range handlers.MCPClients() {
		if i > 0 {
			fmt.Fprintln(s.out)
		}
		fmt.Fprintf(s.out, "# %s\n", m.Name)
		if m.Command != nil {
			fmt.Fprintf(s.out, "run once:\n\n%s\n\nor, in ", indent(m.Command(c)))
		} else {
			fmt.Fprint(s.out, "in ")
		}
		fmt.Fprintf(s.out, "%s:\n\n%s\n", m.File, indent(m.Config(c)))
	}
}
