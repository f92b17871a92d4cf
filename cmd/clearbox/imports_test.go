package main

import (
	"encoding/json"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/clearbox-go/clearbox/"

// rule says what a package, or a folder of packages, may import of ours, and
// what it must never import of others. Support for tests is left out: it may
// import what it tests.
type rule struct {
	pkg   string // "x/*" is every package below x
	ours  []string
	never []string
}

// rules is the architecture as a table: doors → engine → rules, one way only.
var rules = []rule{
	{"engine/plan", nil, []string{"database/sql", "net/http", "os/exec", "github.com/jmoiron/sqlx"}},
	{"views/graph", nil, []string{"database/sql", "net/http", "os/exec"}},
	{"views/diff", nil, []string{"database/sql", "net/http", "os/exec"}},
	{"views/syntax", nil, []string{"database/sql", "net/http", "os/exec"}},
	{"views", []string{"engine/plan", "views/graph", "views/diff", "views/syntax"}, []string{"github.com/labstack/echo/v4"}},
	{"engine/internal/harness", []string{"engine/plan", "plugin"}, nil},
	{"engine/internal/*", []string{"engine/plan"}, nil},
	{"engine", []string{"engine/plan", "engine/internal/*", "plugin"},
		[]string{"github.com/labstack/echo/v4", "github.com/a-h/templ", "github.com/modelcontextprotocol/go-sdk/mcp"}},
	{"plugin", nil, nil},
	{"plugin/toolkit", []string{"plugin"}, nil},
	{"plugin/toolkit/secrets", []string{"plugin"}, nil},
	{"plugin/toolkit/*", nil, []string{"net/http", "os/exec"}},
	{"plugin/plugintest", []string{"plugin"}, nil},
	{"cmd/harness-acp", []string{"plugin", "plugin/*"}, nil},
	{"cmd/harness-claude", []string{"plugin", "plugin/*"}, nil},
	{"cmd/harness-openai", []string{"plugin", "plugin/*"}, nil},
	{"cmd/harness-mock", []string{"plugin", "plugin/*"}, nil},
	{"handlers/planfile", nil, []string{"database/sql", "net/http", "os/exec"}},
	{"handlers", []string{"engine", "engine/plan", "handlers/planfile", "views", "static"}, []string{"database/sql", "os/exec", "github.com/jmoiron/sqlx"}},
	{"static", nil, nil},
	{"cmd/clearbox", []string{"handlers", "handlers/planfile", "engine", "engine/plan", "static", "plugin", "plugin/plugintest"}, nil},
}

// support is for tests, benchmarks and examples; nothing else may import it, but
// for the suite of harnesses, which clearbox harness check runs.
var support = []string{"engine/enginetest", "internal/*", "examples/*", "plugin/plugintest"}

func matches(pattern, pkg string) bool {
	if dir, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(pkg, dir)
	}
	return pattern == pkg
}

func anyMatches(patterns []string, pkg string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, pkg) })
}

func ruleOf(pkg string) *rule {
	for i := range rules {
		if matches(rules[i].pkg, pkg) {
			return &rules[i]
		}
	}
	return nil
}

func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", module+"...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); err == io.EOF {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		checkPackage(t, strings.TrimPrefix(p.ImportPath, module), p.Imports)
	}
}

func checkPackage(t *testing.T, pkg string, imports []string) {
	t.Helper()
	if anyMatches(support, pkg) && pkg != "plugin/plugintest" {
		return
	}
	r := ruleOf(pkg)
	if r == nil {
		t.Errorf("%s is in no row of the table: say what it may import", pkg)
		return
	}
	for _, imp := range imports {
		ours, isOurs := strings.CutPrefix(imp, module)
		switch {
		case isOurs && !anyMatches(r.ours, ours):
			t.Errorf("%s must not import %s", pkg, ours)
		case slices.Contains(r.never, imp):
			t.Errorf("%s must never import %s", pkg, imp)
		}
	}
}
