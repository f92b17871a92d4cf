package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/clearbox-go/clearbox/plugin"
)

// maxRead bounds what is read of a file or of a program's output.
const maxRead = 1 << 20

// tool plays one tool call with its result.
func (p *player) tool(ctx context.Context, d directive) error {
	name, input := toolInput(d)
	id := p.call(name, input)
	content, err := p.carryOut(ctx, d)
	if err != nil && !isRefusal(err) {
		return err
	}
	if err != nil {
		content = err.Error()
	}
	p.host.Emit(plugin.ToolResult(id, content, d.failed || err != nil, ""))
	return nil
}

// call emits a tool use and returns its id.
func (p *player) call(name string, input json.RawMessage) (id string) {
	p.calls++
	id = fmt.Sprintf("mock-%d", p.calls)
	p.host.Emit(plugin.ToolUse(id, name, input, ""))
	return id
}

func toolInput(d directive) (name string, input json.RawMessage) {
	switch d.verb {
	case "write", "append":
		return "Write", object("file_path", d.name, "content", d.text)
	case "read":
		return "Read", object("file_path", d.name)
	case "run":
		return "Bash", object("command", d.text)
	case "mcp":
		return "mcp__clearbox__" + d.name, d.input
	}
	return d.name, d.input
}

// object writes a JSON object of texts.
func object(pairs ...string) json.RawMessage {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	b, _ := json.Marshal(m) // texts always can
	return b
}

// carryOut does what a directive really does and returns what the tool says.
func (p *player) carryOut(ctx context.Context, d directive) (string, error) {
	switch d.verb {
	case "write":
		return p.write(d, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	case "append":
		return p.write(d, os.O_WRONLY|os.O_CREATE|os.O_APPEND)
	case "read":
		return p.read(d.name)
	case "run":
		return p.run(ctx, d.text)
	case "mcp":
		return callMCP(ctx, p.task.MCPURL, d.name, d.input)
	}
	return d.text, nil
}

// write writes a file. The root keeps to the working directory, links included.
func (p *player) write(d directive, flag int) (string, error) {
	if err := mayWrite(p.task, d.name); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(p.task.WorkDir)
	if err != nil {
		return "", fmt.Errorf("open the working directory: %w", err)
	}
	defer root.Close()
	if dir := path.Dir(path.Clean(d.name)); dir != "." {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return "", refuse("make the folder: %w", err)
		}
	}
	f, err := root.OpenFile(d.name, flag, 0o644)
	if err != nil {
		return "", refuse("open the file: %w", err)
	}
	_, err = f.WriteString(d.text)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return "", refuse("write the file: %w", err)
	}
	return fmt.Sprintf("Wrote %d bytes to %s.", len(d.text), d.name), nil
}

func (p *player) read(name string) (string, error) {
	root, err := os.OpenRoot(p.task.WorkDir)
	if err != nil {
		return "", fmt.Errorf("open the working directory: %w", err)
	}
	defer root.Close()
	f, err := root.Open(name)
	if err != nil {
		return "", refuse("open the file: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxRead))
	if err != nil {
		return "", refuse("read the file: %w", err)
	}
	return string(b), nil
}

// run runs a shell command where this run may run one.
func (p *player) run(ctx context.Context, command string) (string, error) {
	if err := mayRun(p.task); err != nil {
		return "", err
	}
	out := &head{}
	proc, err := p.host.Command(ctx, []string{"sh", "-c", command}, plugin.Exec{Stdout: out, Stderr: out})
	if err != nil {
		return "", fmt.Errorf("run %q: %w", command, err)
	}
	code, err := proc.Wait()
	if err != nil {
		return "", fmt.Errorf("run %q: %w", command, err)
	}
	if code != 0 {
		return "", refuse("exit code %d\n%s", code, out.b)
	}
	return string(out.b), nil
}

// head keeps the beginning of what is written to it.
type head struct{ b []byte }

func (h *head) Write(p []byte) (int, error) {
	h.b = append(h.b, p[:min(len(p), maxRead-len(h.b))]...)
	return len(p), nil
}

// mayWrite says why a file may not be written, nil when it may.
func mayWrite(t plugin.Task, name string) error {
	if t.Allowed == plugin.Read || t.Allowed == plugin.Run {
		return refuse("writing needs the capability edit or full; this run has %s", t.Allowed)
	}
	if t.TaskType == "review" {
		return refuse("a step of type review writes nothing")
	}
	docs := []string{".md", ".txt", ".rst", ".adoc", ".svg", ".mermaid"}
	if t.TaskType == "design" && !slices.Contains(docs, path.Ext(name)) {
		return refuse("a step of type design writes only documents (%s), not %s", strings.Join(docs, ", "), name)
	}
	if !t.LimitWrites {
		return nil
	}
	name = path.Clean(name)
	for _, w := range t.Writable {
		w = path.Clean(w)
		if name == w || strings.HasPrefix(name, w+"/") {
			return nil
		}
	}
	return refuse("%s is not among the paths that this step may write (%s)", name, or(strings.Join(t.Writable, ", "), "none"))
}

// mayRun says why no command may be run, nil when it may.
func mayRun(t plugin.Task) error {
	if t.Allowed == plugin.Read || t.Allowed == plugin.Edit {
		return refuse("running commands needs the capability run or full; this run has %s", t.Allowed)
	}
	if t.TaskType == "design" || (t.TaskType == "implement" || t.TaskType == "configure") && t.Allowed != plugin.Full && t.Allowed != "" {
		return refuse("a step of type %s runs no commands", t.TaskType)
	}
	return nil
}
