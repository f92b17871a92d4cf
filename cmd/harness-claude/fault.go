package main

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// failure is how the program tells that the model could not be used. Its versions
// differ in which of these they give.
type failure struct {
	kind     string // one word, such as rate_limit
	status   int    // of HTTP
	said     string
	rejected bool // a limit of the login was reached
}

// hints are what the program advises people at its terminal; the gateway that it means
// is the run's own proxy.
var hints = regexp.MustCompile(`(?s) (This is a server-side issue|If it persists, check|Check the gateway set in|Run --model to).*$`)

// quote puts the program's own words at the end of a sentence.
func (f failure) quote() string {
	text := oneLine(strings.TrimPrefix(hints.ReplaceAllString(f.said, ""), "API Error: "))
	if text == "" {
		return ""
	}
	return ": " + text
}

func (f failure) notLoggedIn() bool {
	return f.status == 0 && strings.Contains(f.said, "/login")
}

var limitWords = regexp.MustCompile(`(?i)you've (hit|reached) your|(usage|session|weekly|5-hour|opus|sonnet) limit|limit reached|limit will reset`)

func (f failure) limited() bool {
	return f.rejected || f.kind == "rate_limit" || f.status == http.StatusTooManyRequests || f.status == 0 && f.kind != "server_error" && limitWords.MatchString(f.said)
}

func (f failure) overloaded() bool {
	return f.status == 529 || f.kind == "overloaded" || strings.Contains(strings.ToLower(f.said), "overloaded")
}

// passing says whether a fault may go away by itself.
func (f failure) passing() bool {
	return f.overloaded() || f.kind == "server_error" || f.status >= 500 || f.status == http.StatusRequestTimeout
}

// logIn says what to do about a missing login.
func (s setup) logIn() string {
	if s.configDir != "" {
		return fmt.Sprintf("claude is not logged in with the configuration directory %s: log in there as the user that Clearbox runs as (CLAUDE_CONFIG_DIR=%[1]s claude, then /login), or give the profile a key (api_key_env)", s.configDir)
	}
	return "claude is not logged in here: start it once as the user that Clearbox runs as and use /login, or give the profile a key (api_key_env)"
}

// refused says what to do about credentials that the endpoint does not take.
func (a access) refused(f failure) string {
	status := f.status
	if status == 0 {
		status = http.StatusUnauthorized
	}
	quote := f.quote()
	switch {
	case a.base == nil && status == http.StatusForbidden:
		return "the login may not use this model (403): check the account's plan and the model" + quote
	case a.base == nil:
		return "the login was refused (401): log in again (claude, then /login) as the user that Clearbox runs as" + quote
	case status == http.StatusForbidden:
		return "the endpoint refused access (403): the api key may have no right to this model" + quote
	case a.key == "":
		return "the endpoint wants an api key (401), and the profile has none: set api_key_env or store a key" + quote
	}
	return "the endpoint refused the api key (401): check the variable named by api_key_env, or the stored key" + quote
}
