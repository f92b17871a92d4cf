package main

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
)

// remote says which server a command talks to.
type remote struct {
	server    string
	host      string
	port      int
	tokenFile string
	flags     *flags
}

// remoteFlags adds the flags that name a server to those of a command.
func remoteFlags(f *flags) *remote {
	r := &remote{flags: f}
	f.add("which server", r.table()...)
	return r
}

func (r *remote) table() []option {
	return []option{
		{"server", "CLEARBOX_URL", "`URL` of the server; without it --host and --port say where it is", text(&r.server, "")},
		{"host", "CLEARBOX_HOST", "`host` that it listens on", text(&r.host, "127.0.0.1")},
		{"port", "CLEARBOX_PORT", "`port` that it listens on", number(&r.port, 8765)},
		{"token-file", "CLEARBOX_AUTH_TOKEN_FILE", "`file` with its token, if it needs one; or the token in the variable CLEARBOX_AUTH_TOKEN", text(&r.tokenFile, "")},
	}
}

// base returns the address of the server. A flag goes before any variable.
func (r *remote) base() (string, error) {
	named := r.flags.given["host"] || r.flags.given["port"]
	if r.server != "" && (r.flags.given["server"] || !named) {
		return checkURL(r.server)
	}
	if r.port < 1 || r.port > 65535 {
		return "", wrongUse("--port: %d is not a port", r.port)
	}
	return "http://" + net.JoinHostPort(dialHost(r.host), strconv.Itoa(r.port)), nil
}

// checkURL makes sure that requests can be sent to a URL, and returns it without
// a slash at its end.
func checkURL(server string) (string, error) {
	u, err := url.Parse(server)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return "", wrongUse("--server: %q is not an address such as http://127.0.0.1:8765", server)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return "", wrongUse("--server: the address has no place for a user, a query or a fragment; a token goes into --token-file")
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// token returns what the server wants to see, "" for nothing.
func (r *remote) token() (string, error) {
	if r.tokenFile == "" {
		return strings.TrimSpace(os.Getenv("CLEARBOX_AUTH_TOKEN")), nil
	}
	return readToken("--token-file", r.tokenFile)
}

// readToken reads a token from the file that a flag names.
func readToken(flag, path string) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", usageError{fmt.Errorf("%s: %w", flag, err)}
	}
	token := strings.TrimSpace(string(b))
	if token == "" {
		return "", wrongUse("%s: %s is empty", flag, path)
	}
	return token, nil
}

// client returns a client of the server.
func (r *remote) client() (*client, error) {
	base, err := r.base()
	if err != nil {
		return nil, err
	}
	token, err := r.token()
	if err != nil {
		return nil, err
	}
	return newClient(base, token), nil
}
