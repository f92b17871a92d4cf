package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/clearbox-go/clearbox/plugin"
	"github.com/clearbox-go/clearbox/plugin/plugintest"
)

const harnessListText = `
A harness is a program named harness-NAME that runs agents. The server looks for
them in --harness-dir, in the folder harnesses beside its database, and beside
itself. "clearbox harness check" says what is wrong with one that is refused.

examples:
  clearbox harness list
  clearbox harness list --json | jq -r '.[].slug'`

const harnessCheckText = `
Starts the binary as Clearbox does, once for each demand, and prints what fails;
no server is needed. Where it needs a model, point it at a stand-in with --set, or
it costs what two or three short prompts cost. Demands that need a task of a known
course, such as one that asks a question, are skipped here: the package
plugin/plugintest tests those from Go.

The exit code is 1 when anything failed.

examples:
  clearbox harness check ./harness-mine
  clearbox harness check ./harness-mock --set speed=100
  clearbox harness check ./harness-mine --model tiny --base-url http://localhost:11434/v1
  clearbox harness check ./harness-mine --set temperature=0 --key-env MY_API_KEY`

// harnessView is a harness as the server tells it.
type harnessView struct {
	Slug, Name, Version, Path string
	Refused                   string
}

// harnessListCommand lists what the server has found.
func harnessListCommand(s *streams, f *flags) action {
	return listing(s, f, "/api/harnesses", func(ctx context.Context, c *client) error {
		var list []harnessView
		if err := c.get(ctx, "/api/harnesses", &list); err != nil {
			return err
		}
		if len(list) == 0 {
			fmt.Fprintln(s.out, "The server has found no harness.")
			return nil
		}
		var rows [][]string
		for _, h := range list {
			state := "usable"
			if h.Refused != "" {
				state = "refused: " + plain(h.Refused)
			}
			rows = append(rows, []string{plain(h.Slug), plain(h.Version), plain(h.Path), state})
		}
		printTable(s.out, []column{{title: "HARNESS"}, {title: "VERSION"}, {title: "PATH"}, {title: "STATE"}}, rows)
		return nil
	})
}

// trial is what check is told.
type trial struct {
	profile plugin.Profile
	params  words
	keyEnv  string
	args    words
	env     words
	timeout time.Duration
	asJSON  bool
}

// harnessCheckCommand tries a binary.
func harnessCheckCommand(s *streams, f *flags) action {
	var t trial
	f.add("",
		option{"model", "", "`name` of the model", text(&t.profile.Model, "")},
		option{"base-url", "", "`URL` of the endpoint", text(&t.profile.BaseURL, "")},
		option{"key-env", "", "`NAME` of the variable that holds the key for it", text(&t.keyEnv, "")},
		option{"set", "", "a setting of the harness, as `name=value`; JSON values are taken as such; repeatable", each(&t.params)},
		option{"arg", "", "an `argument` for the binary; repeatable", each(&t.args)},
		option{"env", "", "a variable for the binary, as `NAME=VALUE`; repeatable", each(&t.env)},
		option{"timeout", "", "how long one demand may take", span(&t.timeout, time.Minute)},
		option{"json", "", "print a JSON object in a line for each demand", truth(&t.asJSON)})
	return func(ctx context.Context, args []string) error {
		o, err := t.options()
		if err != nil {
			return err
		}
		path, err := executable(args[0])
		if err != nil {
			return err
		}
		return t.tell(s, plugintest.Outcomes(ctx, path, o))
	}
}

// options makes the options of the suite.
func (t *trial) options() (plugintest.Options, error) {
	o := plugintest.Options{Args: t.args, Env: t.env, Profile: t.profile, Timeout: t.timeout}
	o.Profile.Name, o.Profile.Credential = "check", "none"
	if t.timeout <= 0 {
		return o, wrongUse("--timeout must be above 0")
	}
	for _, v := range t.env {
		if name, _, ok := strings.Cut(v, "="); !ok || name == "" {
			return o, wrongUse("--env: %q is not NAME=VALUE", name)
		}
	}
	if t.keyEnv != "" {
		if o.Profile.Secret = os.Getenv(t.keyEnv); o.Profile.Secret == "" {
			return o, wrongUse("--key-env: the variable %s is not set", t.keyEnv)
		}
		o.Profile.KeyEnv, o.Profile.Credential = t.keyEnv, "env:"+t.keyEnv
	}
	params := map[string]json.RawMessage{}
	for _, p := range t.params {
		name, value, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return o, wrongUse("--set: %q is not name=value", p)
		}
		params[name] = json.RawMessage(value)
		if !json.Valid([]byte(value)) {
			params[name], _ = json.Marshal(value) // a string always encodes
		}
	}
	var err error
	o.Profile.Params, err = json.Marshal(params)
	return o, err
}

// executable returns the full path of a program.
func executable(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("there is no file %s", path)
	case err != nil:
		return "", fmt.Errorf("find the harness: %w", err)
	case info.IsDir() || info.Mode()&0o111 == 0:
		return "", fmt.Errorf("%s is not a program: it must be a file that can be executed", path)
	}
	return filepath.Abs(path)
}

// tell prints each outcome as it comes.
func (t *trial) tell(s *streams, outcomes iter.Seq[plugintest.Outcome]) error {
	p := paintFor(s.out)
	counts := map[plugintest.Status]int{}
	for got := range outcomes {
		counts[got.Status]++
		if t.asJSON {
			(&jsonTeller{s.out}).print(map[string]any{"demand": got.Name, "status": got.Status, "detail": got.Detail, "seconds": got.Took.Seconds()})
			continue
		}
		fmt.Fprintf(s.out, "%s  %s (%s)\n", p.in(statusColour[got.Status], string(got.Status)), got.Name, got.Took.Round(time.Millisecond))
		if why := strings.TrimSpace(plainText(got.Detail)); why != "" {
			fmt.Fprintln(s.out, "      "+strings.ReplaceAll(why, "\n", "\n      "))
		}
	}
	if !t.asJSON {
		fmt.Fprintf(s.out, "\n%d passed, %d failed, %d skipped\n", counts[plugintest.Pass], counts[plugintest.Fail], counts[plugintest.Skip])
	}
	if counts[plugintest.Fail] > 0 {
		return exitCode(1)
	}
	return nil
}

var statusColour = map[plugintest.Status]string{plugintest.Pass: green, plugintest.Fail: red, plugintest.Skip: yellow}
