package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
)

const (
	maxAnswer = 64 << 20 // bytes of an answer without stream
	maxError  = 64 << 10 // bytes of an error's body that are read
)

// client asks one model at one endpoint. It is used by one goroutine.
type client struct {
	setup
	pace
	http *http.Client
	note func(string) // for the transcript: what is being waited for
	defs []toolDef    // the tools on offer

	dialect dialect
}

// message is an entry of the conversation.
type message struct {
	Role       string        `json:"role"`
	Content    string        `json:"content"` // never null: some servers refuse that
	ToolCalls  []historyCall `json:"tool_calls,omitempty"`
	ToolCallID string        `json:"tool_call_id,omitempty"`
}

type historyCall struct {
	ID       string      `json:"id"`
	Type     string      `json:"type"`
	Function historyFunc `json:"function"`
}

type historyFunc struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// toolDef is a tool as the endpoint is told of it.
type toolDef struct {
	Type     string   `json:"type"`
	Function toolSpec `json:"function"`
}

type toolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// fields returns the request without its messages.
func (c *client) fields() map[string]any {
	f := map[string]any{"model": c.model, "stream": c.params.stream}
	if c.params.stream && !c.dialect.noStreamOptions {
		f["stream_options"] = map[string]any{"include_usage": true}
	}
	put(f, "temperature", c.params.temperature)
	put(f, "top_p", c.params.topP)
	put(f, "seed", c.params.seed)
	limits := [2]string{"max_tokens", "max_completion_tokens"}
	if c.dialect.otherTokenLimit {
		limits[0], limits[1] = limits[1], limits[0]
	}
	put(f, limits[0], c.params.maxTokens)
	put(f, limits[1], c.params.maxCompletionTokens)
	if c.params.reasoningEffort != "" {
		f["reasoning_effort"] = c.params.reasoningEffort
	}
	if len(c.defs) > 0 {
		f["tools"] = c.defs
		if !c.dialect.noParallel {
			put(f, "parallel_tool_calls", c.params.parallelToolCalls)
		}
	}
	for name, raw := range c.params.extraBody {
		f[name] = raw
	}
	return f
}

func put[T any](f map[string]any, name string, v *T) {
	if v != nil {
		f[name] = *v
	}
}

func (c *client) body(history []message) ([]byte, error) {
	f := c.fields()
	f["messages"] = history
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(f); err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	return b.Bytes(), nil
}

func (c *client) asked() asked {
	return asked{url: c.endpoint.url("chat/completions"), model: c.model, withKey: c.endpoint.key != "", withTools: len(c.defs) > 0}
}

// once sends one request. Every failure but the end of ctx is a [fault].
func (c *client) once(ctx context.Context, history []message) (*reply, error) {
	body, err := c.body(history)
	if err != nil {
		return nil, err
	}
	ctx, dog := watch(ctx, c.params.timeout)
	defer dog.stop()
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, c.asked().url, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Accept", "text/event-stream, application/json")
	q.Header.Set("Authorization", c.endpoint.authorization())
	q.Header.Set("User-Agent", "clearbox-harness-openai")
	resp, err := c.http.Do(q)
	if err != nil {
		return nil, c.transportFault(ctx, err)
	}
	defer resp.Body.Close()
	dog.feed()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, maxError)) // a part of it is still worth reading
		return nil, statusFault(resp.StatusCode, resp.Header, readAPIError(text), c.asked())
	}
	return c.read(ctx, resp, dog)
}

// read takes the answer for what it is, not for what was asked for or what its
// header says: some send plain JSON to who wants a stream, or a stream as plain text.
func (c *client) read(ctx context.Context, resp *http.Response, dog *watchdog) (*reply, error) {
	r := bufio.NewReaderSize(resp.Body, 64<<10)
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	head, err := firstByte(r)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, c.transportFault(ctx, err)
	case err != nil && kind != "text/event-stream":
		return nil, c.cut()
	case kind == "text/event-stream" && head != '{':
		return c.stream(ctx, r, dog)
	case head == '{':
		return c.whole(ctx, r)
	case head == '<':
		return nil, &fault{text: fmt.Sprintf("%s answered with a web page: check base_url", c.asked().url)}
	case kind == "text/plain" && looksLikeEvents(r):
		return c.stream(ctx, r, dog)
	}
	return nil, notJSON()
}

func looksLikeEvents(r *bufio.Reader) bool {
	for _, begin := range []string{"data:", "event:", "id:", ":"} {
		if head, _ := r.Peek(len(begin)); string(head) == begin {
			return true
		}
	}
	return false
}

func notJSON() *fault {
	return &fault{text: "the endpoint's answer is not JSON: check that base_url is the address of an OpenAI-compatible API"}
}

// firstByte passes over blanks.
func firstByte(r *bufio.Reader) (byte, error) {
	for {
		b, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		if !strings.ContainsRune(" \t\r\n", rune(b)) {
			return b, r.UnreadByte()
		}
	}
}

func (c *client) whole(ctx context.Context, r io.Reader) (*reply, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxAnswer))
	if err != nil {
		return nil, c.transportFault(ctx, err)
	}
	var a wireAnswer
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, notJSON()
	}
	if hasError(a) {
		return nil, insideFault(a.Error, c.asked())
	}
	if len(a.Choices) == 0 {
		return nil, &fault{retry: true, text: "the endpoint's answer has no choices" + readAPIError(data).said()}
	}
	var g gather
	g.add(a)
	return g.reply(), nil
}

func hasError(a wireAnswer) bool { return len(a.Error) > 0 && string(a.Error) != "null" }

// stream reads a reply piece by piece. It is complete with [DONE], or when a finish
// reason came before the end; anything else is a connection cut in the middle.
func (c *client) stream(ctx context.Context, r *bufio.Reader, dog *watchdog) (*reply, error) {
	in := &events{r: r}
	var g gather
	for {
		data, err := in.next()
		switch {
		case err == nil:
		case g.finish != "" && (errors.Is(err, io.EOF) || dog.bitten()):
			return g.reply(), nil
		case errors.Is(err, io.EOF):
			return nil, c.cut()
		default:
			return nil, c.transportFault(ctx, err)
		}
		if string(bytes.TrimSpace(data)) == "[DONE]" {
			return g.reply(), nil
		}
		var a wireAnswer
		if err := json.Unmarshal(data, &a); err != nil {
			return nil, &fault{text: "the endpoint sent a piece of its stream that is not JSON: " + oneLine(string(data))}
		}
		if hasError(a) {
			return nil, insideFault(a.Error, c.asked())
		}
		g.add(a)
		dog.feed()
		if g.finish != "" {
			dog.shorten(c.farewell)
		}
	}
}
