package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// directive is one line of a script.
type directive struct {
	line    int
	attempt int // only in this attempt; 0: in all
	verb    string
	name    string          // of a tool or a file
	text    string          // what is said, written, run, asked
	input   json.RawMessage // of a tool
	failed  bool            // the tool's result is an error
	n, m    int64           // numbers
	usd     float64
	wait    time.Duration
	until   time.Time
}

// Bounds of the numbers in a script.
const (
	maxFlood   = 10_000_000
	maxBytes   = 1 << 30
	maxSeconds = 24 * 60 * 60
	maxWait    = 30 * 24 * time.Hour
)

// verbs say how the rest of the line is read. The rules in the errors are what
// the author of a script sees.
var verbs = map[string]func(d *directive, rest string) error{
	"text":     needText,
	"thinking": needText,
	"system":   needText,
	"error":    needText,
	"log":      needText,
	"stderr":   anyText,
	"tool":     toolCall,
	"mcp":      mcpCall,
	"write":    fileText,
	"append":   fileText,
	"read":     fileOnly,
	"run":      needText,
	"sleep":    duration,
	"sleep!":   duration,
	"usage":    twoNumbers,
	"cost":     money,
	"ask":      needText,
	"limit":    limit,
	"overload": anyText,
	"fail":     anyText,
	"result":   needText,
	"die":      numberUpTo(255, 3),
	"kill":     nothing,
	"panic":    anyText,
	"hang":     nothing,
	"flood":    numberUpTo(maxFlood, -1),
	"big":      numberUpTo(maxBytes, -1),
	"line":     numberUpTo(maxBytes, -1),
	"spawn":    numberUpTo(maxSeconds, 600),
	"orphan":   numberUpTo(maxSeconds, 600),
}

// parse reads a script. The error names the first bad line and the rule that it
// breaks.
func parse(script string) ([]directive, error) {
	var out []directive
	for i, line := range strings.Split(script, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		d, err := parseLine(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		d.line = i + 1
		out = append(out, d)
	}
	return out, nil
}

func parseLine(line string) (directive, error) {
	var d directive
	if at, ok := strings.CutPrefix(line, "@"); ok {
		number, rest := word(at)
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 {
			return d, fmt.Errorf("@%s must be @ and the number of an attempt, such as @1", number)
		}
		d.attempt, line = n, rest
	}
	verb, rest := word(line)
	read := verbs[verb]
	if read == nil {
		return d, fmt.Errorf("%q is no directive; there are %s", verb, strings.Join(slices.Sorted(maps.Keys(verbs)), ", "))
	}
	d.verb = verb
	if err := read(&d, rest); err != nil {
		return d, fmt.Errorf("%s: %w", verb, err)
	}
	return d, nil
}

// word splits off the first word.
func word(s string) (first, rest string) {
	s = strings.TrimSpace(s)
	i := strings.IndexAny(s, " \t")
	if i < 0 {
		return s, ""
	}
	return s[:i], strings.TrimSpace(s[i:])
}

// unquoted is the text itself, or what a Go string stands for.
func unquoted(s string) (string, error) {
	if !strings.HasPrefix(s, `"`) {
		return s, nil
	}
	out, err := strconv.Unquote(s)
	if err != nil {
		return "", errors.New(`a text that starts with " must be a whole Go string, such as "two\nlines"`)
	}
	return out, nil
}

func anyText(d *directive, rest string) (err error) {
	d.text, err = unquoted(rest)
	return err
}

func needText(d *directive, rest string) error {
	if err := anyText(d, rest); err != nil {
		return err
	}
	if strings.TrimSpace(d.text) == "" {
		return errors.New("a text must follow")
	}
	return nil
}

func nothing(_ *directive, rest string) error {
	if rest != "" {
		return fmt.Errorf("nothing may follow, not %q", rest)
	}
	return nil
}

func fileOnly(d *directive, rest string) error {
	d.name, rest = word(rest)
	if d.name == "" {
		return errors.New("a path relative to the working directory must follow")
	}
	return nothing(d, rest)
}

func fileText(d *directive, rest string) error {
	d.name, rest = word(rest)
	if d.name == "" {
		return errors.New("a path relative to the working directory and a content must follow")
	}
	return anyText(d, rest)
}

// toolCall reads NAME [JSON] [=> TEXT | =! TEXT].
func toolCall(d *directive, rest string) error {
	rest, err := nameAndInput(d, rest)
	if err != nil {
		return err
	}
	switch {
	case rest == "":
		return nil
	case strings.HasPrefix(rest, "=!"):
		d.failed = true
	case !strings.HasPrefix(rest, "=>"):
		return fmt.Errorf("after name and input must come => or =! and the result, not %q", rest)
	}
	return anyText(d, strings.TrimSpace(rest[2:]))
}

func mcpCall(d *directive, rest string) error {
	rest, err := nameAndInput(d, rest)
	if err != nil {
		return err
	}
	return nothing(d, rest)
}

func nameAndInput(d *directive, rest string) (left string, err error) {
	d.name, rest = word(rest)
	if d.name == "" || strings.HasPrefix(d.name, "=") || strings.HasPrefix(d.name, "{") {
		return "", errors.New("the name of a tool must follow")
	}
	d.input = json.RawMessage(`{}`)
	if !strings.HasPrefix(rest, "{") {
		return rest, nil
	}
	dec := json.NewDecoder(strings.NewReader(rest))
	if err := dec.Decode(&d.input); err != nil {
		return "", fmt.Errorf("the input must be a JSON object on this line: %w", noEOF(err))
	}
	d.input = bytes.Clone(d.input)
	return strings.TrimSpace(rest[dec.InputOffset():]), nil
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it has no end")
	}
	return err
}

func duration(d *directive, rest string) error {
	wait, err := time.ParseDuration(rest)
	if err != nil || wait < 0 || wait > maxWait {
		return fmt.Errorf("a duration such as 500ms or 2s must follow, at most %s, not %q", maxWait, rest)
	}
	d.wait = wait
	return nil
}

func twoNumbers(d *directive, rest string) error {
	first, second := word(rest)
	var err, err2 error
	d.n, err = strconv.ParseInt(first, 10, 64)
	d.m, err2 = strconv.ParseInt(second, 10, 64)
	if err != nil || err2 != nil || d.n < 0 || d.m < 0 {
		return fmt.Errorf("two numbers of tokens must follow, in and out, not %q", rest)
	}
	return nil
}

func money(d *directive, rest string) error {
	usd, err := strconv.ParseFloat(rest, 64)
	if err != nil || !(usd >= 0 && usd < 1e9) {
		return fmt.Errorf("an amount in dollars such as 0.25 must follow, not %q", rest)
	}
	d.usd = usd
	return nil
}

// numberUpTo reads a number from 0 to most; missing stands for none, -1 means
// that there must be one.
func numberUpTo(most, missing int64) func(*directive, string) error {
	return func(d *directive, rest string) error {
		if rest == "" && missing >= 0 {
			d.n = missing
			return nil
		}
		n, err := strconv.ParseInt(rest, 10, 64)
		if err != nil || n < 0 || n > most {
			return fmt.Errorf("a number from 0 to %d must follow, not %q", most, rest)
		}
		d.n = n
		return nil
	}
}

// limit reads nothing, a duration from now on, or a time.
func limit(d *directive, rest string) error {
	if rest == "" {
		return nil
	}
	if wait, err := time.ParseDuration(rest); err == nil && wait > 0 && wait <= maxWait {
		d.wait = wait
		return nil
	}
	until, err := time.Parse(time.RFC3339, rest)
	if err != nil {
		return fmt.Errorf("a duration such as 30s or a time such as 2030-01-02T15:04:05Z must follow, not %q", rest)
	}
	d.until = until
	return nil
}
