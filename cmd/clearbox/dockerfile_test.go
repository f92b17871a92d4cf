package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// instructions reads a Dockerfile: each instruction in one line, comments left out.
func instructions(t *testing.T, path string) []string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	text := regexp.MustCompile(`(?m)^\s*#.*\n`).ReplaceAllString(string(b), "")
	text = strings.ReplaceAll(text, "\\\n", " ")
	for line := range strings.Lines(text) {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// The image is built where there is a daemon; here at least nothing in its recipe
// names what is not there.
func TestDockerfileNamesOnlyWhatIsThere(t *testing.T) {
	t.Parallel()
	const root = "../.."
	list := instructions(t, root+"/packaging/Dockerfile")
	all := strings.Join(list, "\n")
	for _, line := range list {
		words := strings.Fields(line)
		switch words[0] {
		case "COPY":
			checkCopied(t, root, words[1:], all)
		case "FROM", "WORKDIR", "ENV", "RUN", "USER", "VOLUME", "EXPOSE", "HEALTHCHECK", "CMD", "STOPSIGNAL", "ENTRYPOINT":
		default:
			t.Errorf("unknown instruction in %q", line)
		}
	}
	checkBuild(t, root, all)
	checkServed(t, list, all)
}

// checkCopied looks for the sources of a COPY, which .dockerignore must not hide.
func checkCopied(t *testing.T, root string, words []string, all string) {
	t.Helper()
	sources := words[:len(words)-1]
	if from, ok := strings.CutPrefix(words[0], "--from="); ok {
		if !strings.Contains(all, " AS "+from+"\n") || !strings.Contains(all, "-o "+words[1]) {
			t.Errorf("COPY %v: no stage %s makes that", words, from)
		}
		return
	}
	ignored, err := os.ReadFile(root + "/packaging/Dockerfile.dockerignore")
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range sources {
		if _, err := os.Stat(filepath.Join(root, source)); err != nil {
			t.Errorf("COPY %s: %v", source, err)
		}
		if slices.Contains(strings.Fields(string(ignored)), source) {
			t.Errorf("COPY %s: it is ignored", source)
		}
	}
}

// checkBuild makes sure that the image is built as the Makefile builds, with a Go
// that is new enough.
func checkBuild(t *testing.T, root, all string) {
	t.Helper()
	makefile, err := os.ReadFile(root + "/Makefile")
	if err != nil {
		t.Fatal(err)
	}
	gomod, err := os.ReadFile(root + "/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	tags := regexp.MustCompile(`(?m)^TAGS := (.*)$`).FindStringSubmatch(string(makefile))[1]
	flags := regexp.MustCompile(`(?m)^export CGO_CFLAGS := (.*)$`).FindStringSubmatch(string(makefile))[1]
	need := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(string(gomod))[1]
	for _, part := range []string{"FROM golang:" + need, "-tags " + tags + " ", `CGO_CFLAGS="` + flags + `"`, "CGO_ENABLED=1", " ./cmd/..."} {
		if !strings.Contains(all, part) {
			t.Errorf("there is no %q in\n%s", part, all)
		}
	}
	for _, name := range []string{"clearbox", "harness-claude", "harness-openai", "harness-mock"} {
		if _, err := os.Stat(filepath.Join(root, "cmd", name, "main.go")); err != nil {
			t.Error(err)
		}
	}
}

// checkServed makes sure that the server takes the flags and variables that the
// image gives it, and that every program that it calls is installed.
func checkServed(t *testing.T, list []string, all string) {
	t.Helper()
	known := &options{}
	flags := map[string]bool{}
	variables := []string{"CLEARBOX_AUTH_TOKEN"}
	for _, o := range known.table() {
		flags["--"+o.name] = true
		variables = append(variables, o.env)
	}
	for _, name := range regexp.MustCompile(`CLEARBOX_[A-Z_]+`).FindAllString(all, -1) {
		if !slices.Contains(variables, name) {
			t.Errorf("the image sets %s, which nobody reads", name)
		}
	}
	installed := regexp.MustCompile(`apt-get install -y --no-install-recommends ([^&]*)`).FindStringSubmatch(all)[1]
	for _, line := range list {
		exec := regexp.MustCompile(`"([^"]*)"`).FindAllStringSubmatch(line, -1)
		for i, word := range exec {
			switch {
			case strings.HasPrefix(line, "CMD") && strings.HasPrefix(word[1], "--") && !flags[word[1]]:
				t.Errorf("the server has no %s", word[1])
			case strings.HasPrefix(line, "ENTRYPOINT") && i == 0 && !strings.Contains(installed, word[1]):
				t.Errorf("%s is not installed", word[1])
			}
		}
		if strings.HasPrefix(line, "HEALTHCHECK") && (!strings.Contains(line, "/api/health") || !strings.Contains(installed, "curl")) {
			t.Errorf("the health check %q", line)
		}
	}
}

// The scripts beside it are at least shell.
func TestPackagingScriptsParse(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob("../../packaging/*.sh")
	if err != nil || len(scripts) == 0 {
		t.Fatal(scripts, err)
	}
	for _, script := range append(scripts, "../../examples/fix-the-tests/demo.sh", "../../integrations/claude-code/clearbox/hooks/session-start.sh") {
		if out, err := exec.Command("bash", "-n", script).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", script, err, out)
		}
	}
}
