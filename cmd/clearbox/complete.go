package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/clearbox-go/clearbox/handlers"
)

const completionText = `
Prints a script that teaches a shell to complete commands, flags, and the numbers
of plans and steps, which it asks the server for.

examples:
  source <(clearbox completion bash)              in ~/.bashrc
  clearbox completion zsh > "${fpath[1]}/_clearbox"
  clearbox completion fish > ~/.config/fish/completions/clearbox.fish`

// completeName is the hidden command that the scripts call with the words of a
// command line, the last of which is to be completed.
const completeName = "__complete"

// completionCommand prints a script.
func completionCommand(s *streams, _ *flags) action {
	return func(_ context.Context, args []string) error {
		script, ok := completionScripts[args[0]]
		if !ok {
			return wrongUse("unknown shell %q: it is one of bash, zsh, fish", args[0])
		}
		fmt.Fprint(s.out, script)
		return nil
	}
}

// Each line of an answer is a word, a tab and what it is; the line ":files" asks
// the shell to complete names of files.
var completionScripts = map[string]string{
	"bash": `# bash completion for clearbox
_clearbox() {
    local line cur=${COMP_WORDS[COMP_CWORD]}
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ $line == :files ]]; then
            compopt -o filenames 2>/dev/null
            mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$cur")
        else
            COMPREPLY+=("${line%%$'\t'*}")
        fi
    done < <("${COMP_WORDS[0]}" __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _clearbox clearbox
`,
	"zsh": `#compdef clearbox
_clearbox() {
    local line files=0
    local -a found
    for line in "${(@f)$("${words[1]}" __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
        if [[ $line == :files ]]; then
            files=1
        elif [[ -n $line ]]; then
            found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
        fi
    done
    (( ${#found} )) && _describe -t words clearbox found
    (( files )) && _files
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _clearbox "$@"
else
    compdef _clearbox clearbox
fi
`,
	"fish": `# fish completion for clearbox
function __clearbox_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] __complete -- $words[2..-1] "$current" 2>/dev/null)
        if test "$line" = ":files"
            __fish_complete_path "$current"
        else
            echo $line
        end
    end
end
complete -c clearbox -f -a '(__clearbox_complete)'
`,
}

// completeCommand answers the scripts.
func completeCommand(s *streams, _ *flags) action {
	return func(ctx context.Context, args []string) error {
		if len(args) == 0 {
			args = []string{""}
		}
		c := newCompletion(args)
		for _, word := range c.candidates(ctx) {
			if word == ":files" || strings.HasPrefix(word, c.current) {
				fmt.Fprintln(s.out, word)
			}
		}
		return nil
	}
}

// completion is a command line that ends in a word to complete.
type completion struct {
	table   []command // to choose from, when the command is not complete
	command *command
	flags   *flags
	read    []string // the words of the command's flags and arguments
	args    int      // how many arguments stand before
	value   string   // the flag whose value is to be completed
	current string
}

// newCompletion reads the words before the last.
func newCompletion(words []string) *completion {
	c := &completion{table: commands(), current: words[len(words)-1]}
	words = words[:len(words)-1]
	if len(words) > 0 && strings.HasPrefix(words[0], "-") || len(words) == 0 && strings.HasPrefix(c.current, "-") {
		words = append([]string{"serve"}, words...)
	}
	for len(words) > 0 && c.command == nil {
		next := find(c.table, words[0])
		if next == nil {
			c.table = nil
			return c
		}
		words, c.table = words[1:], next.sub
		if next.sub == nil {
			c.command, c.flags = next, newFlags()
			next.setup(&streams{}, c.flags)
		}
	}
	c.read = words
	c.readWords(words)
	return c
}

// readWords tells flags, their values and arguments apart.
func (c *completion) readWords(words []string) {
	for _, word := range words {
		name := strings.TrimLeft(word, "-")
		switch {
		case c.value != "":
			c.value = ""
		case !strings.HasPrefix(word, "-") || word == "-":
			c.args++
		case !strings.Contains(word, "=") && c.takesValue(name):
			c.value = name
		}
	}
}

// takesValue reports whether the word after a flag is its value.
func (c *completion) takesValue(name string) bool {
	if c.flags == nil {
		return false
	}
	x := c.flags.set.Lookup(name)
	if x == nil {
		return false
	}
	b, ok := x.Value.(interface{ IsBoolFlag() bool })
	return !ok || !b.IsBoolFlag()
}

// candidates are the words that may stand here.
func (c *completion) candidates(ctx context.Context) []string {
	if name, _, ok := strings.Cut(c.current, "="); ok && strings.HasPrefix(name, "-") {
		var out []string
		for _, v := range flagValues(strings.TrimLeft(name, "-")) {
			out = append(out, name+"="+v)
		}
		return out
	}
	switch {
	case c.value != "":
		return flagValues(c.value)
	case c.command == nil:
		return c.commandWords()
	case strings.HasPrefix(c.current, "-"):
		return c.flagWords()
	}
	return c.argument(ctx)
}

func (c *completion) commandWords() []string {
	var out []string
	for _, x := range c.table {
		if !x.hidden {
			out = append(out, x.name+"\t"+x.summary)
		}
	}
	return out
}

func (c *completion) flagWords() []string {
	var out []string
	for _, s := range c.flags.sections {
		for _, r := range s.rows {
			_, help := flag.UnquoteUsage(c.flags.set.Lookup(r.name))
			out = append(out, "--"+r.name+"\t"+help)
		}
	}
	return append(out, "--help\texplain the command")
}

// flagValues are the words that may follow a flag, or ":files".
func flagValues(name string) []string {
	switch name {
	case "executor":
		return []string{"builtin\tagents of the server", "external\tclaimed over MCP"}
	case "on-exit":
		return []string{"stop", "detach"}
	case "log-format":
		return []string{"text", "json"}
	case "log-level":
		return []string{"debug", "info", "warn", "error"}
	case "default-capability":
		return []string{"read", "run", "edit", "full"}
	case "db", "workdir", "dir", "out", "token-file", "auth-token-file", "harness-dir":
		return []string{":files"}
	}
	return nil
}

// argument completes what stands at this place.
func (c *completion) argument(ctx context.Context) []string {
	words := strings.Fields(c.command.args)
	if c.command.name == "help" {
		return c.helpWords()
	}
	if c.args >= len(words) {
		return nil
	}
	switch strings.Trim(words[c.args], "[]") {
	case "FILE", "PATH":
		return []string{":files"}
	case "SHELL":
		return []string{"bash", "zsh", "fish"}
	case "allow|deny":
		return []string{"allow", "deny"}
	case "GOAL", "FEEDBACK":
		return nil
	case "CLIENT":
		var out []string
		for _, m := range handlers.MCPClients() {
			out = append(out, m.ID+"\t"+m.Name)
		}
		return out
	}
	return c.ask(ctx, words[c.args])
}

func (c *completion) helpWords() []string {
	table := commands()
	for _, word := range c.read {
		x := find(table, word)
		if x == nil {
			return nil
		}
		table = x.sub
	}
	return (&completion{table: table}).commandWords()
}

// ask asks the server for plans, steps or questions. One that does not answer
// soon has nothing to say.
func (c *completion) ask(ctx context.Context, what string) []string {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	f := newFlags()
	r := remoteFlags(f)
	_, _ = f.parse(c.remoteWords(), os.Getenv) // half a command line may be wrong
	client, err := r.client()
	if err != nil {
		return nil
	}
	if what == "STEP|QUESTION" {
		return questionWords(ctx, client)
	}
	id, _, inPlan := strings.Cut(c.current, ".")
	if n, err := strconv.Atoi(id); err == nil && inPlan && strings.Contains(what, "STEP") {
		return stepWords(ctx, client, n)
	}
	list, err := client.plans(ctx)
	if err != nil {
		return nil
	}
	var out []string
	for _, p := range list {
		word := strconv.Itoa(p.ID)
		if what == "STEP" {
			word += "."
		}
		out = append(out, word+"\t"+plain(p.Title))
	}
	return out
}

// remoteWords are the flags on the command line that say which server is meant.
func (c *completion) remoteWords() []string {
	var out []string
	known := newFlags()
	remoteFlags(known)
	for i, word := range c.read {
		name, _, whole := strings.Cut(strings.TrimLeft(word, "-"), "=")
		if !strings.HasPrefix(word, "-") || known.set.Lookup(name) == nil {
			continue
		}
		if out = append(out, word); !whole && i+1 < len(c.read) {
			out = append(out, c.read[i+1])
		}
	}
	return out
}

func questionWords(ctx context.Context, client *client) []string {
	asked, err := client.questions(ctx)
	if err != nil {
		return nil
	}
	var out []string
	for i := range asked {
		out = append(out, asked[i].address()+"\t"+asked[i].says())
	}
	return out
}

func stepWords(ctx context.Context, client *client, id int) []string {
	v, err := client.plan(ctx, id)
	if err != nil {
		return nil
	}
	var out []string
	for i := range v.Nodes {
		out = append(out, v.Nodes[i].address()+"\t"+plain(v.Nodes[i].Title))
	}
	return out
}
