package handlers

import (
	"net/http"
	"slices"
	"sync"
	"time"
)

// durationBounds are the upper bounds of the buckets of durations, in seconds.
var durationBounds = [...]float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30}

// metrics counts what the doors do. Everything in its labels is from a fixed
// set: patterns, not paths.
type metrics struct {
	mu       sync.Mutex
	requests map[requestKind]uint64
	took     map[routeKind]*histogram
	streams  map[string]int // open now, by route
	tools    map[toolKind]uint64
	guesses  uint64 // at the login page, wrong or put off
}

type routeKind struct{ route, method string }

type requestKind struct {
	routeKind
	status int
}

type toolKind struct{ door, tool, outcome string }

// Outcomes of tool calls.
const (
	toolOK      = "ok"
	toolRefused = "refused" // a tool error
	toolBroke   = "broke"   // a protocol error, or one of ours
)

type histogram struct {
	buckets [len(durationBounds) + 1]uint64 // the last one has what is above all bounds
	count   uint64
	sum     float64
}

func (h *histogram) add(seconds float64) {
	at := 0
	for at < len(durationBounds) && seconds > durationBounds[at] {
		at++
	}
	h.buckets[at]++
	h.count++
	h.sum += seconds
}

func newMetrics() *metrics {
	return &metrics{requests: map[requestKind]uint64{}, took: map[routeKind]*histogram{}, streams: map[string]int{},
		tools: map[toolKind]uint64{}}
}

// knownMethods are those that labels name; clients can send any word.
var knownMethods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch,
	http.MethodDelete, http.MethodOptions}

// request counts a request that has been answered. How long a stream was open
// says nothing about how fast the server is, so that is left out.
func (m *metrics) request(route, method string, status int, took time.Duration, stream bool) {
	if route == "" {
		route = "none"
	}
	if !slices.Contains(knownMethods, method) {
		method = "other"
	}
	kind := routeKind{route, method}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests[requestKind{kind, status}]++
	if stream {
		return
	}
	h := m.took[kind]
	if h == nil {
		h = &histogram{}
		m.took[kind] = h
	}
	h.add(took.Seconds())
}

// streamOpened counts streams that were opened (1) or have ended (-1).
func (m *metrics) streamOpened(route string, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.streams[route] += n
}

// toolCalled counts a call of a tool that exists.
func (m *metrics) toolCalled(door, tool, outcome string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tools[toolKind{door, tool, outcome}]++
}

// loginRefused counts a guess at the login page.
func (m *metrics) loginRefused() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.guesses++
}
