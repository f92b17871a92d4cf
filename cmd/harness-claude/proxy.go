package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"sync"
	"time"

	"github.com/clearbox-go/clearbox/plugin/toolkit/secrets"
)

const maxErrorBody = 1 << 20

// proxy stands between the program and the endpoint for the time of one run: it listens
// on loopback, takes the run's token and puts the key in its place. So the key is in no
// environment, file or argument that the agent could look at.
type proxy struct {
	access access
	token  string
	url    string
	server *http.Server
	done   chan error
	scrub  secrets.Scrubber
	now    func() time.Time

	mu     sync.Mutex
	last   int       // status of the endpoint's last answer, 0 when it could not be reached
	fault  string    // why it could not be reached
	resets time.Time // when the limit ends that the last answer told of
}

// startProxy listens until close.
func startProxy(a access, scrub secrets.Scrubber, now func() time.Time) (*proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open the loopback proxy for the key: %w", err)
	}
	p := &proxy{access: a, token: rand.Text(), url: "http://" + l.Addr().String(), done: make(chan error, 1), scrub: scrub, now: now}
	p.server = &http.Server{Handler: p.handler(), ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { p.done <- p.server.Serve(l) }()
	return p, nil
}

// close ends the proxy and the calls that go through it.
func (p *proxy) close() {
	if p == nil {
		return
	}
	_ = p.server.Close()
	<-p.done
}

func (p *proxy) handler() http.Handler {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true // a stream is passed on as it comes
	forward := &httputil.ReverseProxy{
		Transport: transport, Rewrite: p.rewrite, ModifyResponse: p.note, ErrorHandler: p.unreachable,
		ErrorLog: log.New(io.Discard, "", 0), // its texts are told by unreachable
	}
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if !p.knows(q) {
			refuse(w, http.StatusUnauthorized, "authentication_error", "this is the proxy of one run, and the token is not that run's")
			return
		}
		forward.ServeHTTP(w, q)
	})
}

// knows compares the token of a request, in constant time.
func (p *proxy) knows(q *http.Request) bool {
	given := q.Header.Get("X-Api-Key")
	if given == "" {
		given = strings.TrimPrefix(q.Header.Get("Authorization"), "Bearer ")
	}
	return subtle.ConstantTimeCompare([]byte(given), []byte(p.token)) == 1
}

func (p *proxy) rewrite(r *httputil.ProxyRequest) {
	r.SetURL(p.access.base)
	h := r.Out.Header
	for _, name := range []string{"X-Api-Key", "Authorization", "Cookie"} {
		h.Del(name)
	}
	h.Set("Accept-Encoding", "identity")
	p.access.authorize(h)
}

// authorize sets the key. Gateways differ in where they look for it; Anthropic's own
// API must not be given both.
func (a access) authorize(h http.Header) {
	if a.key == "" {
		return
	}
	if a.token || !a.official() {
		h.Set("Authorization", "Bearer "+a.key)
	}
	if !a.token {
		h.Set("X-Api-Key", a.key)
	}
}

// note remembers how the endpoint answered, and takes the key out of its errors, which
// the program would show to the model and write to its files.
func (p *proxy) note(resp *http.Response) error {
	p.mu.Lock()
	p.last, p.fault, p.resets = resp.StatusCode, "", time.Time{}
	if resp.StatusCode == http.StatusTooManyRequests {
		p.resets = resetFrom(resp.Header, p.now())
	}
	p.mu.Unlock()
	if resp.StatusCode < 400 {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	_ = resp.Body.Close()
	if err != nil {
		return fmt.Errorf("read the endpoint's error: %w", err)
	}
	body = []byte(p.scrub.Text(string(body)))
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	resp.Header.Del("Content-Length")
	return nil
}

func (p *proxy) unreachable(w http.ResponseWriter, q *http.Request, err error) {
	if errors.Is(err, context.Canceled) || q.Context().Err() != nil {
		return // the program hung up
	}
	what := "the connection to %s broke off: %v"
	if op := (*net.OpError)(nil); errors.As(err, &op) && op.Op == "dial" {
		what = "could not connect to %s: %v; see whether the endpoint runs, and base_url"
	}
	text := p.scrub.Text(fmt.Sprintf(what, p.access.base, rootCause(err)))
	p.mu.Lock()
	p.last, p.fault = 0, text
	p.mu.Unlock()
	refuse(w, http.StatusBadGateway, "api_error", text)
}

// seen is what the proxy saw last.
func (p *proxy) seen() (fault string, resets time.Time) {
	if p == nil {
		return "", time.Time{}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fault, p.resets
}

func rootCause(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

func refuse(w http.ResponseWriter, status int, kind, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{ // fails only when the client is gone
		"type": "error", "error": map[string]string{"type": kind, "message": text},
	})
}
