package main

import (
	"net/netip"
	"net/url"
	"strings"

	"github.com/clearbox-go/clearbox/plugin"
	"github.com/clearbox-go/clearbox/plugin/toolkit/settings"
)

const (
	officialURL = "https://api.openai.com/v1"

	// placeholder is sent as the key to servers that want none: many still refuse a
	// request without the header.
	placeholder = "not-needed"
)

// endpoint is where the model is and how to get in.
type endpoint struct {
	base *url.URL
	key  string // "" when none is needed
}

// readEndpoint checks base_url and the key of a profile.
func readEndpoint(p plugin.Profile) (endpoint, *settings.Fault) {
	text := strings.TrimSpace(p.BaseURL)
	if text == "" {
		text = officialURL
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return endpoint{}, settings.Wrong("base_url", "base_url is not a URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return endpoint{}, settings.Wrong("base_url", "base_url must begin with http:// or https://, and not with %q", u.Scheme)
	case u.Hostname() == "":
		return endpoint{}, settings.Wrong("base_url", "base_url names no host")
	case u.User != nil:
		return endpoint{}, settings.Wrong("base_url", "base_url must not hold a user or password: use api_key_env")
	}
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/chat/completions")
	u.RawPath, u.Fragment = "", ""
	e := endpoint{base: u, key: strings.TrimSpace(p.Secret)}
	if strings.ContainsFunc(e.key, func(r rune) bool { return r < ' ' || r > '~' }) {
		return e, settings.Wrong("api_key", "the api key holds characters that no key has, such as a line break")
	}
	if e.key != "" || isPrivate(u.Hostname()) {
		return e, nil
	}
	if p.KeyEnv != "" {
		return e, settings.Wrong("api_key_env", "there is no api key: the environment variable %s, named by api_key_env, is not set where Clearbox runs", p.KeyEnv)
	}
	return e, settings.Wrong("api_key_env", "there is no api key for %s: name an environment variable in api_key_env, or store a key", u.Host)
}

// url returns the address of a path of the API. A query in base_url stays.
func (e endpoint) url(path string) string { return e.base.JoinPath(path).String() }

// shown is the base URL for people.
func (e endpoint) shown() string { return e.base.String() }

func (e endpoint) authorization() string {
	if e.key == "" {
		return "Bearer " + placeholder
	}
	return "Bearer " + e.key
}

var carrierNAT = netip.MustParsePrefix("100.64.0.0/10") // also used by private overlay networks

// isPrivate reports whether a host is this machine or on a network of one's own,
// where model servers seldom want a key. No name is looked up.
func isPrivate(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		ip = ip.Unmap()
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified() || carrierNAT.Contains(ip)
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if !strings.Contains(host, ".") {
		return true // localhost, or a name of a container network
	}
	for _, end := range []string{".localhost", ".local", ".internal", ".lan", ".home.arpa"} {
		if strings.HasSuffix(host, end) {
			return true
		}
	}
	return false
}
