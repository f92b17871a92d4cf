package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// fault is why a request failed, in a sentence that says what to do.
type fault struct {
	text    string
	status  int      // of HTTP, or as an error inside an answer names it; 0 without
	api     apiError // what the endpoint said
	retry   bool     // worth trying again at once
	passing bool     // likely to go away by itself, later if not at once
	limited bool     // the limit of a provider was reached
	wait    time.Duration
	waits   bool // wait is what the endpoint asked for
}

func (f *fault) Error() string { return f.text }

// apiError is the endpoint's own account.
type apiError struct {
	message, code, kind, param string
}

// readAPIError understands the shapes that errors come in: an object under "error", a
// text there, a flat object, FastAPI's detail, or no JSON at all.
func readAPIError(body []byte) apiError {
	var top map[string]json.RawMessage
	if json.Unmarshal(body, &top) != nil {
		return apiError{message: plainText(body)}
	}
	inner := top
	if raw, ok := top["error"]; ok {
		if m := looseString(raw); m != "" {
			return apiError{message: m, code: looseString(top["code"])}
		}
		var o map[string]json.RawMessage
		if json.Unmarshal(raw, &o) == nil && o != nil {
			inner = o
		}
	}
	e := apiError{
		message: looseString(inner["message"]), code: looseString(inner["code"]),
		kind: looseString(inner["type"]), param: looseString(inner["param"]),
	}
	if e.message == "" {
		e.message = strings.Trim(string(inner["detail"]), `"`)
	}
	if e.message == "" {
		e.message = plainText(body)
	}
	e.message = oneLine(e.message)
	return e
}

func looseString(raw json.RawMessage) string {
	var t looseText
	if len(raw) > 0 && json.Unmarshal(raw, &t) == nil {
		return string(t)
	}
	return ""
}

var tag = regexp.MustCompile(`(?s)<(style|script).*?</(style|script)>|<[^>]*>`)

// plainText makes something readable of a body that is not JSON.
func plainText(body []byte) string {
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) {
		body = tag.ReplaceAll(body, []byte(" "))
	}
	return oneLine(string(body))
}

// oneLine shortens what the endpoint said to what fits in a sentence.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	if r := []rune(s); len(r) > 500 {
		return string(r[:500]) + "…"
	}
	return s
}

// said puts what the endpoint said at the end of a sentence.
func (e apiError) said() string {
	if e.message == "" {
		return ""
	}
	return ": " + e.message
}

// mentions looks for words in what the endpoint said.
func (e apiError) mentions(words ...string) bool {
	all := strings.ToLower(e.message + " " + e.code + " " + e.kind)
	for _, w := range words {
		if strings.Contains(all, w) {
			return true
		}
	}
	return false
}

// asked is what a fault needs to know of the request.
type asked struct {
	url, model string
	withKey    bool
	withTools  bool
}

// statusFault explains an answer that is not 200, or an error inside one that is.
func statusFault(status int, h http.Header, e apiError, q asked) *fault {
	f := &fault{status: status, api: e}
	if h != nil {
		f.wait, f.waits = retryAfter(h, time.Now())
	}
	switch {
	case status == http.StatusUnauthorized && !q.withKey:
		f.text = "the endpoint wants an api key (401), and the profile has none: set api_key_env or store a key" + e.said()
	case status == http.StatusUnauthorized:
		f.text = "the endpoint refused the api key (401): check the variable named by api_key_env, or the stored key" + e.said()
	case status == http.StatusForbidden:
		f.text = "the endpoint refused access (403): the api key may have no right to this model, project or region" + e.said()
	case status == http.StatusPaymentRequired:
		f.text = "the endpoint wants to be paid first (402): add credit to the account" + e.said()
	case status == http.StatusNotFound:
		f.text = notFound(e, q)
	case status == http.StatusTooManyRequests:
		f.limit(e)
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status >= 500:
		f.retry, f.passing = true, true
		f.text = fmt.Sprintf("the endpoint failed (%d)%s", status, e.said())
	case status >= 300 && status < 400:
		f.text = fmt.Sprintf("%s answered with a redirect (%d) to %s: set base_url to where the API really is", q.url, status, h.Get("Location"))
	default:
		f.text = refused(status, e, q)
	}
	return f
}

// limit tells a limit that passes from an account that is used up.
func (f *fault) limit(e apiError) {
	if e.code == "insufficient_quota" || e.kind == "insufficient_quota" {
		f.text = "the account's quota is used up (429): add credit, or use another key" + e.said()
		return
	}
	f.limited, f.retry = true, true
	f.text = "the endpoint's rate limit was reached (429)" + e.said()
}

func notFound(e apiError, q asked) string {
	if q.withTools && e.mentions("tool") {
		return refused(http.StatusNotFound, e, q)
	}
	if e.code == "model_not_found" || e.mentions("model") {
		return fmt.Sprintf("model '%s' was not found at %s: check the model's name, and that it is there%s", q.model, q.url, e.said())
	}
	return fmt.Sprintf("%s does not exist (404): check base_url, which usually ends in /v1%s", q.url, e.said())
}

func refused(status int, e apiError, q asked) string {
	switch {
	case e.code == "context_length_exceeded" || e.kind == "exceed_context_size_error" || e.mentions("context length", "context size", "context window", "maximum context"):
		return fmt.Sprintf("the conversation is longer than the context of model '%s': make the step smaller, or use a model with more%s", q.model, e.said())
	case q.withTools && e.mentions("tool", "function"):
		return fmt.Sprintf("the endpoint refused the request (%d), it seems because of the tools: model '%s' or its server does not support tool calls as it is set up. "+
			"Use a model that does, or start the server with tool support; for answers in text alone set tools to {\"preset\": \"none\", \"mcp\": false}%s", status, q.model, e.said())
	}
	return fmt.Sprintf("the endpoint refused the request (%d)%s", status, e.said())
}

// insideFault explains an error object in an answer whose status was 200.
func insideFault(raw json.RawMessage, q asked) *fault {
	e := readAPIError(append(append([]byte(`{"error":`), raw...), '}'))
	if status, err := strconv.Atoi(e.code); err == nil && status >= 400 && status < 600 {
		return statusFault(status, nil, e, q)
	}
	if e.mentions("rate limit", "rate_limit") {
		return statusFault(http.StatusTooManyRequests, nil, e, q)
	}
	return &fault{retry: true, passing: true, api: e, text: "the endpoint reported an error in its answer" + e.said()}
}
