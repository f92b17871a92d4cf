package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/clearbox-go/clearbox/plugin/toolkit/stdio"
)

// errGone is what calls get when the agent has ended.
var errGone = errors.New("the agent program has ended")

// handler serves what the agent asks. What is told (no answer wanted) comes in order,
// before any answer that follows it; requests may come beside each other.
type handler interface {
	told(method string, params json.RawMessage)
	asked(ctx context.Context, method string, params json.RawMessage) (any, *rpcError)
	odd(text string) // something that is no message
}

// peer is the other end of the pipes.
type peer struct {
	ctx context.Context // of the requests of the agent
	in  *stdio.Input
	h   handler

	asks sync.WaitGroup

	mu      sync.Mutex // guards what follows
	last    int
	waiting map[string]chan<- message
	gone    bool
}

type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

func newPeer(ctx context.Context, h handler) *peer {
	return &peer{ctx: ctx, in: stdio.NewInput(), h: h, waiting: map[string]chan<- message{}}
}

// lines takes what the agent prints.
func (p *peer) lines() *stdio.Lines {
	return &stdio.Lines{Max: stdio.MaxLine, Each: p.line, TooLong: func(size int64) {
		p.h.odd(fmt.Sprintf("(a line of %d bytes was left out)", size))
	}}
}

func (p *peer) line(raw []byte) {
	var m message
	if json.Unmarshal(raw, &m) != nil || m.Method == "" && len(m.ID) == 0 {
		p.h.odd(string(raw[:min(len(raw), stdio.KeepTail)]))
		return
	}
	switch {
	case m.Method == "":
		p.settle(m)
	case len(m.ID) == 0:
		p.h.told(m.Method, m.Params)
	default:
		p.mu.Lock()
		defer p.mu.Unlock()
		if !p.gone {
			p.asks.Go(func() { p.serve(m) })
		}
	}
}

func (p *peer) settle(m message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.waiting[string(m.ID)]; c != nil {
		delete(p.waiting, string(m.ID))
		c <- m // it has room
	}
}

func (p *peer) serve(m message) {
	result, fault := p.h.asked(p.ctx, m.Method, m.Params)
	out := message{Version: "2.0", ID: m.ID, Error: fault}
	if fault == nil {
		raw, err := json.Marshal(result)
		if err != nil {
			out.Error = &rpcError{Code: codeInternal, Message: err.Error()}
		}
		out.Result = raw
	}
	_ = p.in.Send(out) // it is JSON
}

// call asks the agent and waits for its answer, which goes into out.
func (p *peer) call(ctx context.Context, method string, params, out any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	answer := make(chan message, 1)
	p.mu.Lock()
	if p.gone {
		p.mu.Unlock()
		return errGone
	}
	p.last++
	id := strconv.Itoa(p.last)
	p.waiting[id] = answer
	p.mu.Unlock()
	if err := p.in.Send(message{Version: "2.0", ID: json.RawMessage(id), Method: method, Params: raw}); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	select {
	case m, ok := <-answer:
		switch {
		case !ok:
			return errGone
		case m.Error != nil:
			return m.Error
		case out == nil || len(m.Result) == 0 || string(m.Result) == "null":
			return nil
		}
		if err := json.Unmarshal(m.Result, out); err != nil {
			return fmt.Errorf("the agent's answer to %s was not understood: %w", method, err)
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// tell sends what wants no answer.
func (p *peer) tell(method string, params any) {
	if raw, err := json.Marshal(params); err == nil {
		_ = p.in.Send(message{Version: "2.0", Method: method, Params: raw})
	}
}

// end fails every call that still waits. Nothing more comes from the agent.
func (p *peer) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone = true
	for id, c := range p.waiting {
		close(c)
		delete(p.waiting, id)
	}
}
