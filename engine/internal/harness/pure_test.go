package harness

import (
	"bytes"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"
)

func TestEnvironment(t *testing.T) {
	own := []string{
		"PATH=/bin", "HOME=/h", "LC_ALL=C", "TZ=UTC", "XDG_CONFIG_HOME=/c", "SSH_AUTH_SOCK=/s", "TMPDIR=/tmp",
		"GOCACHE=/g", "NPM_CONFIG_CACHE=/n", "https_proxy=http://p", "EDITOR=vi",
		"NPM_CONFIG__AUTHTOKEN=1", "npm_config_Password=2", "XDG_SECRET=3", "LC_KEY=4",
		"OPENAI_API_KEY=5", "GITHUB_TOKEN=6", "DB_PASSWORD=7", "PATHS=8", "NAMED_TOKEN=yes", "not a variable",
	}
	want := []string{
		"PATH=/bin", "HOME=/h", "LC_ALL=C", "TZ=UTC", "XDG_CONFIG_HOME=/c", "SSH_AUTH_SOCK=/s",
		"GOCACHE=/g", "NPM_CONFIG_CACHE=/n", "https_proxy=http://p", "NAMED_TOKEN=yes", "TMPDIR=/run/r1",
	}
	if d := cmp.Diff(want, environment(own, []string{"NAMED_TOKEN", "MISSING", "TMPDIR"}, "/run/r1")); d != "" {
		t.Errorf("environment (-want +got):\n%s", d)
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	for name, c := range map[string]struct {
		writes []string
		want   string
	}{
		"nothing":        {nil, ""},
		"a little":       {[]string{"a\n", "b\n"}, "a\nb\n"},
		"one long write": {[]string{strings.Repeat("a", 3*tailSize) + "end"}, strings.Repeat("a", tailSize-3) + "end"},
		"many writes":    {append(strings.SplitAfter(strings.Repeat("abc,", tailSize), ","), "end"), strings.Repeat("abc,", tailSize/4)[3:] + "end"},
		"odd bytes":      {[]string{"a\x00b\xffc"}, "ab\uFFFDc"},
	} {
		t.Run(name, func(t *testing.T) {
			out := newTail()
			for _, w := range c.writes {
				if n, err := out.Write([]byte(w)); n != len(w) || err != nil {
					t.Fatalf("Write: %d, %v", n, err)
				}
			}
			if got := out.text(); got != c.want {
				t.Errorf("got %d bytes, want %d: …%q", len(got), len(c.want), got[max(0, len(got)-20):])
			}
			if cap(out.buf) > 4*tailSize {
				t.Errorf("it holds %d bytes", cap(out.buf))
			}
		})
	}
}

func FuzzFirstLine(f *testing.F) {
	f.Add([]byte("1|1|unix|/s|netrpc|\nmore"))
	f.Add([]byte("no newline"))
	f.Add([]byte("\n"))
	f.Add(bytes.Repeat([]byte("x"), 3*maxHandshake))
	f.Fuzz(func(t *testing.T, in []byte) {
		var passed bytes.Buffer
		out := newTail()
		_, _ = io.Copy(out, passFirstLine(bytes.NewReader(in), &passed, out))
		line := passed.Bytes()
		if len(in) > 0 && (len(line) > maxHandshake+1 || bytes.IndexByte(line, '\n') != len(line)-1) {
			t.Fatalf("passed on %q: want one line of at most %d bytes", line, maxHandshake)
		}
		if !bytes.HasPrefix(in, bytes.TrimSuffix(line, []byte("\n"))) {
			t.Fatalf("passed on %q of %q", line, in)
		}
		if text := out.text(); !utf8.ValidString(text) || strings.Contains(text, "\x00") {
			t.Fatalf("kept %q", text)
		}
	})
}

func TestRunIDsArePlainNames(t *testing.T) {
	for id, ok := range map[string]bool{
		"r1": true, "0198-ab_C.d": true, strings.Repeat("a", 100): true,
		"": false, ".": false, "..": false, "a/b": false, ".x": false, "a b": false, "ä": false, strings.Repeat("a", 101): false,
	} {
		if err := checkRunID(id); (err == nil) != ok {
			t.Errorf("run id %q: got %v", id, err)
		}
	}
}

func TestSocketFolderLinkIsNotTrustedBlindly(t *testing.T) {
	precious := t.TempDir()
	dir := filepath.Join(t.TempDir(), "r1")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(precious, filepath.Join(dir, socketLink)); err != nil {
		t.Fatal(err)
	}
	f := openFolder(dir)
	if f.sockets != dir {
		t.Errorf("the link to %s was followed", f.sockets)
	}
	if err := f.remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(precious); err != nil {
		t.Errorf("a folder of someone else was removed: %v", err)
	}
}

func TestSuperviseRefusesWrongArguments(t *testing.T) {
	for _, args := range [][]string{{}, {"-dir", "/x"}, {"-bogus"}, {"-dir", "/x", "-sockets", "/y"}, {"-orphan-after", "soon"}} {
		if _, err := parseDuty(args, io.Discard); err == nil {
			t.Errorf("%q was taken", args)
		}
	}
}

func TestDutyGoesOverTheCommandLine(t *testing.T) {
	want := duty{folder: folder{"/d", "/s"}, orphanAfter: 3e9, attached: true, argv: []string{"/h/harness-x", "-y"}}
	got, err := parseDuty(want.args(), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(duty{}, folder{})); d != "" {
		t.Errorf("duty (-want +got):\n%s", d)
	}
}

func TestGoPluginIsQuiet(t *testing.T) {
	var out bytes.Buffer
	level := new(slog.LevelVar)
	log := newQuietLog(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: level})))
	say := func(l hclog.Logger) {
		l.Error("broken", "why", "x")
		l.Named("plugin").With("a", 1).Warn("odd")
		l.StandardLogger(nil).Print("standard")
	}
	say(log)
	if out.Len() != 0 || log.GetLevel() != hclog.Off {
		t.Errorf("it says %q", out.String())
	}
	level.Set(slog.LevelDebug)
	say(log)
	for _, want := range []string{`"go-plugin: broken" level=error why=x`, `"go-plugin: odd" a=1`, "standard"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got %q, want %s in it", out.String(), want)
		}
	}
	if strings.Contains(out.String(), "level=ERROR") {
		t.Error("it is louder than debug")
	}
}
