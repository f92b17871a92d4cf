package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// agent is a program that speaks ACP and does what the last word of its prompt says.
// It serves one thing at a time.
type agent struct {
	in   *bufio.Scanner
	last int
	cwd  string
}

const agentSession = "sess-1"

func (a *agent) send(m map[string]any) {
	m["jsonrpc"] = "2.0"
	raw, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(raw))
}

func (a *agent) update(kind string, more map[string]any) {
	more["sessionUpdate"] = kind
	a.send(map[string]any{"method": "session/update", "params": map[string]any{"sessionId": agentSession, "update": more}})
}

func (a *agent) say(text string) {
	a.update("agent_message_chunk", map[string]any{"content": map[string]any{"type": "text", "text": text}})
}

type incoming struct {
	ID     json.RawMessage
	Method string
	Params map[string]any
	Result map[string]any
	Error  *rpcError
}

func (a *agent) next() (m incoming, ok bool) {
	if !a.in.Scan() {
		return m, false
	}
	return m, json.Unmarshal(a.in.Bytes(), &m) == nil
}

// ask calls the client and returns its answer as text.
func (a *agent) ask(method string, params map[string]any) (map[string]any, string) {
	a.last++
	params["sessionId"] = agentSession
	a.send(map[string]any{"id": a.last, "method": method, "params": params})
	for {
		m, ok := a.next()
		switch {
		case !ok:
			os.Exit(0)
		case m.Method != "":
			continue
		case m.Error != nil:
			return nil, "ERROR " + m.Error.Message
		}
		return m.Result, ""
	}
}

// agentMain plays the agent. variant changes how it greets.
func agentMain(variant string) int {
	if variant == "silent" {
		fmt.Fprintln(os.Stderr, "usage: something else")
		return 3
	}
	a := &agent{in: bufio.NewScanner(os.Stdin)}
	a.in.Buffer(nil, 64<<20)
	fmt.Fprintln(os.Stderr, "agent is up")
	for {
		m, ok := a.next()
		if !ok {
			return 0
		}
		if result, fault := a.serve(m, variant); len(m.ID) > 0 && fault != nil {
			a.send(map[string]any{"id": m.ID, "error": fault})
		} else if len(m.ID) > 0 {
			a.send(map[string]any{"id": m.ID, "result": result})
		}
	}
}

func (a *agent) serve(m incoming, variant string) (any, *rpcError) {
	switch m.Method {
	case "initialize":
		version := 1
		if variant == "tomorrow" {
			version = 2
		}
		return map[string]any{"protocolVersion": version, "agentInfo": map[string]any{"name": "scripted", "version": "1.2"},
			"authMethods":       []any{map[string]any{"id": "api-key", "name": "Use a key"}},
			"agentCapabilities": map[string]any{"loadSession": variant != "forgetful", "mcpCapabilities": map[string]any{"http": variant != "forgetful"}}}, nil
	case "session/new":
		if variant == "locked" {
			return nil, &rpcError{Code: codeAuth, Message: "Authentication required"}
		}
		a.cwd = m.Params["cwd"].(string)
		return map[string]any{"sessionId": agentSession, "configOptions": []any{map[string]any{"id": "brain", "category": "model"}}}, nil
	case "session/load":
		if m.Params["sessionId"] != agentSession {
			return nil, &rpcError{Code: codeInvalid, Message: "no such session"}
		}
		a.cwd = m.Params["cwd"].(string)
		a.say("of the past")
		return nil, nil
	case "session/prompt":
		return a.prompt(m)
	case "session/set_config_option", "session/set_mode":
		if m.Params["value"] == "none-such" || m.Params["modeId"] == "none-such" {
			return nil, &rpcError{Code: codeInvalid, Message: "unknown value"}
		}
		return map[string]any{}, nil
	}
	return nil, &rpcError{Code: codeNoMethod, Message: "no such method"}
}

func (a *agent) prompt(m incoming) (any, *rpcError) {
	var words []string
	for _, b := range m.Params["prompt"].([]any) {
		words = append(words, strings.Fields(b.(map[string]any)["text"].(string))...)
	}
	trick := agentTricks[words[len(words)-1]]
	if trick == nil {
		trick = agentTricks["hello"]
	}
	stop, fault := trick(a)
	if fault != nil {
		return nil, fault
	}
	return map[string]any{"stopReason": stop, "usage": map[string]any{"totalTokens": 13, "inputTokens": 7, "outputTokens": 3, "cachedReadTokens": 3}}, nil
}

// call does a tool call of the agent's own, asking first.
func (a *agent) call(id, kind string, fields map[string]any) string {
	fields["toolCallId"], fields["kind"], fields["status"] = id, kind, "pending"
	if fields["title"] == nil {
		fields["title"] = kind + " something"
	}
	a.update("tool_call", fields)
	got, fault := a.ask("session/request_permission", map[string]any{"toolCall": map[string]any{"toolCallId": id}, "options": []any{
		map[string]any{"optionId": "yes-always", "name": "Always", "kind": "allow_always"}, map[string]any{"optionId": "yes", "name": "Yes", "kind": "allow_once"},
		map[string]any{"optionId": "no", "name": "No", "kind": "reject_once"}}})
	outcome := fault
	if got != nil {
		outcome = fmt.Sprint(got["outcome"].(map[string]any)["optionId"])
	}
	status := "failed"
	if outcome == "yes" {
		status = "completed"
	}
	a.update("tool_call_update", map[string]any{"toolCallId": id, "status": status, "content": []any{
		map[string]any{"type": "content", "content": map[string]any{"type": "text", "text": "the client said " + outcome}}}})
	return outcome
}

func (a *agent) terminal(command string, args ...string) string {
	got, fault := a.ask("terminal/create", map[string]any{"command": command, "args": args, "cwd": a.cwd})
	if got == nil {
		return fault
	}
	id := got["terminalId"]
	end, _ := a.ask("terminal/wait_for_exit", map[string]any{"terminalId": id})
	out, _ := a.ask("terminal/output", map[string]any{"terminalId": id})
	a.update("tool_call", map[string]any{"toolCallId": "term-" + fmt.Sprint(a.last), "kind": "execute", "title": command, "status": "completed",
		"rawInput": map[string]any{"command": command}, "content": []any{map[string]any{"type": "terminal", "terminalId": id}}})
	a.ask("terminal/release", map[string]any{"terminalId": id})
	return fmt.Sprintf("%v exit %v", strings.TrimSpace(fmt.Sprint(out["output"])), end["exitCode"])
}

var agentTricks = map[string]func(*agent) (string, *rpcError){
	"hello": func(a *agent) (string, *rpcError) {
		a.update("agent_thought_chunk", map[string]any{"content": map[string]any{"type": "text", "text": "They want "}})
		a.update("agent_thought_chunk", map[string]any{"content": map[string]any{"type": "text", "text": "one word."}})
		a.say("rea")
		a.say("dy")
		a.update("usage_update", map[string]any{"used": 10, "size": 100, "cost": map[string]any{"amount": 0.25, "currency": "USD"}})
		return "end_turn", nil
	},
	"work": func(a *agent) (string, *rpcError) {
		a.update("plan", map[string]any{"entries": []any{map[string]any{"content": "read", "priority": "high", "status": "in_progress"}, map[string]any{"content": "write", "priority": "low", "status": "pending"}}})
		got, fault := a.ask("fs/read_text_file", map[string]any{"path": a.cwd + "/a.txt", "line": 2, "limit": 1})
		a.say(fmt.Sprintf("read %v%s\n", got["content"], fault))
		_, fault = a.ask("fs/write_text_file", map[string]any{"path": a.cwd + "/b.txt", "content": "new\n"})
		a.say("write b " + fault + "\n")
		_, fault = a.ask("fs/write_text_file", map[string]any{"path": a.cwd + "/../c.txt", "content": "new\n"})
		a.say("write outside " + fault + "\n")
		a.say("edit " + a.call("t1", "edit", map[string]any{"locations": []any{map[string]any{"path": a.cwd + "/b.txt"}},
			"content": []any{map[string]any{"type": "diff", "path": a.cwd + "/b.txt", "oldText": "new\n", "newText": "newer\n"}}}) + "\n")
		a.say("run " + a.call("t2", "execute", map[string]any{"rawInput": map[string]any{"command": "ls"}}) + "\n")
		a.say("fetch " + a.call("t3", "fetch", map[string]any{}) + "\n")
		a.say("report " + a.call("t4", "other", map[string]any{"title": "report_progress (clearbox MCP Server)"}) + "\n")
		a.say("terminal " + a.terminal("echo out; exit 3"))
		return "end_turn", nil
	},
	"diff": func(a *agent) (string, *rpcError) {
		a.update("tool_call", map[string]any{"toolCallId": "d", "kind": "edit", "title": "Edit b.txt", "status": "in_progress", "rawInput": map[string]any{"path": "b.txt"}})
		a.update("tool_call_update", map[string]any{"toolCallId": "d", "status": "completed", "content": []any{map[string]any{"type": "diff", "path": "b.txt", "oldText": "a\nb\nc\n", "newText": "a\nB\nc\n"}}})
		a.say("changed")
		return "end_turn", nil
	},
	"env": func(a *agent) (string, *rpcError) {
		a.say("GREETING=" + os.Getenv("GREETING") + " KEY=" + os.Getenv("AGENT_KEY"))
		return "end_turn", nil
	},
	"sneak": func(a *agent) (string, *rpcError) {
		a.update("tool_call", map[string]any{"toolCallId": "s", "kind": "execute", "title": "rm -rf /", "status": "completed"})
		for {
			if _, ok := a.next(); !ok {
				os.Exit(0)
			}
		}
	},
	"long": func(a *agent) (string, *rpcError) {
		cmd := exec.Command("sleep", "300")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		_ = cmd.Start()
		time.Sleep(5 * time.Minute)
		return "end_turn", nil
	},
	"big": func(a *agent) (string, *rpcError) {
		pour := exec.Command("sh", "-c", "head -c 41943040 /dev/zero | tr '\\0' x; echo; head -c 4194304 /dev/zero | tr '\\0' e >&2") // by what prints it fast
		pour.Stdout, pour.Stderr = os.Stdout, os.Stderr
		if err := pour.Run(); err != nil {
			return "refusal", nil
		}
		a.update("tool_call", map[string]any{"toolCallId": "b", "kind": "read", "status": "completed", "title": "cat", "rawOutput": strings.Repeat("y", 2<<20)})
		a.say("printed")
		return "end_turn", nil
	},
	"die":    func(*agent) (string, *rpcError) { fmt.Fprintln(os.Stderr, "out of luck"); os.Exit(7); return "", nil },
	"killed": func(*agent) (string, *rpcError) { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL); select {} },
	"cut":    func(a *agent) (string, *rpcError) { a.say("half"); return "max_tokens", nil },
	"dear": func(a *agent) (string, *rpcError) {
		a.update("usage_update", map[string]any{"used": 10, "size": 100, "cost": map[string]any{"amount": 0.25, "currency": "USD"}})
		a.update("tool_call", map[string]any{"toolCallId": "d1", "title": "Look", "kind": "read", "status": "pending"})
		select {} // until it is ended
	},
	"turns":   func(a *agent) (string, *rpcError) { return "max_turn_requests", nil },
	"refuse":  func(a *agent) (string, *rpcError) { return "refusal", nil },
	"nothing": func(a *agent) (string, *rpcError) { return "end_turn", nil },
	"limited": func(a *agent) (string, *rpcError) { return "", &rpcError{Code: 429, Message: "Rate limit exceeded"} },
	"overload": func(a *agent) (string, *rpcError) {
		return "", &rpcError{Code: codeInternal, Message: "Internal error", Data: json.RawMessage(`{"details":"529 overloaded"}`)}
	},
	"logged-in": func(a *agent) (string, *rpcError) {
		return "", &rpcError{Code: codeAuth, Message: "Authentication required"}
	},
}
