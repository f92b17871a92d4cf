package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"time"
)

// client talks to a server over REST.
type client struct {
	base  string // without a slash at its end
	token string
	http  http.Client
}

func newClient(base, token string) *client { return &client{base: base, token: token} }

// refusal is the answer of a server that did not do what it was asked for.
type refusal struct {
	status int
	detail string
}

func (r *refusal) Error() string { return r.detail }

// refused reports whether an error is a refusal with a status.
func refused(err error, status int) bool {
	var r *refusal
	return errors.As(err, &r) && r.status == status
}

// How long a server may take to answer.
const answerTimeout = 30 * time.Second

func (c *client) get(ctx context.Context, path string, out any) error {
	return c.call(ctx, request{http.MethodGet, path, nil}, out)
}

func (c *client) post(ctx context.Context, path string, in, out any) error {
	if in == nil {
		in = struct{}{}
	}
	return c.call(ctx, request{http.MethodPost, path, in}, out)
}

// request is what is asked of a server.
type request struct {
	method, path string
	body         any // sent as JSON, unless nil
}

// call makes a request and reads its answer into out, which may be nil, or a
// *[]byte for the answer as it is. Every error is a sentence for the user.
func (c *client) call(ctx context.Context, q request, out any) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	var body io.Reader
	if q.body != nil {
		b, err := json.Marshal(q.body)
		if err != nil {
			return fmt.Errorf("encode a request: %w", err)
		}
		body = bytes.NewReader(b)
	}
	r, err := c.send(ctx, q.method, q.path, body)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	switch raw, ok := out.(*[]byte); {
	case err != nil:
		return fmt.Errorf("the server at %s broke off its answer: %w", c.base, err)
	case ok:
		*raw = b
	case out != nil && json.Unmarshal(b, out) != nil:
		return fmt.Errorf("what answers at %s is not a Clearbox that this one understands", c.base)
	}
	return nil
}

// send makes a request and returns an answer that is a success.
func (c *client) send(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	q, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, wrongUse("--server: %w", err)
	}
	if body != nil {
		q.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		q.Header.Set("Authorization", "Bearer "+c.token)
	}
	r, err := c.http.Do(q)
	if err != nil {
		return nil, c.unreachable(err)
	}
	if r.StatusCode/100 == 2 {
		return r, nil
	}
	defer r.Body.Close()
	return nil, c.refusalOf(r)
}

// unreachable says why there is no answer, and what to do.
func (c *client) unreachable(err error) error {
	var hint string
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("no Clearbox answers at %s: start one with \"clearbox ensure\", or name another with --server%w", c.base, quiet{err})
	case errors.Is(err, context.DeadlineExceeded):
		hint = "it took longer than " + answerTimeout.String()
	default:
		hint = reason(err)
	}
	return fmt.Errorf("no answer from %s: %s%w", c.base, hint, quiet{err})
}

// quiet wraps an error whose text was said in other words.
type quiet struct{ error }

func (quiet) Error() string   { return "" }
func (q quiet) Unwrap() error { return q.error }

// reason is the innermost text of an error, without the request that net/http
// repeats.
func reason(err error) string {
	for next := err; next != nil; next = errors.Unwrap(next) {
		err = next
	}
	return err.Error()
}

// refusalOf reads why a server refused.
func (c *client) refusalOf(r *http.Response) error {
	b, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20)) // what there is of it
	var said struct{ Detail string }
	detail := strings.TrimSpace(string(b))
	if json.Unmarshal(b, &said) == nil && said.Detail != "" {
		detail = said.Detail
	} else if strings.HasPrefix(detail, "<") || len(detail) > 300 || detail == "" {
		detail = fmt.Sprintf("the server at %s answered %s", c.base, r.Status)
	}
	if r.StatusCode == http.StatusUnauthorized {
		detail = fmt.Sprintf("the server at %s needs its token: give --token-file, or set CLEARBOX_AUTH_TOKEN", c.base)
		if c.token != "" {
			detail = fmt.Sprintf("the server at %s does not accept this token", c.base)
		}
	}
	return &refusal{r.StatusCode, plainText(detail)}
}
