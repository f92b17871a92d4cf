package plan

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestKindIsFoundThroughWrapping(t *testing.T) {
	base := Errorf(NotFound, "there is no plan %d", 7)
	for _, c := range []struct {
		name string
		err  error
		kind ErrorKind
		msg  string
	}{
		{"none", nil, "", ""},
		{"bare", base, NotFound, "there is no plan 7"},
		{"wrapped twice", fmt.Errorf("start plan 7: %w", fmt.Errorf("read: %w", base)), NotFound, "there is no plan 7"},
		{"joined", errors.Join(errors.New("x"), base), NotFound, "there is no plan 7"},
		{"flattened", fmt.Errorf("start: %v", base), Internal, ""},
		{"of another package", errors.New("disk full at /secret"), Internal, ""},
		{"internal of ours", Errorf(Internal, "key is %s", "sk-1"), Internal, ""},
		{"with a cause", &Error{Kind: Unavailable, Msg: "git is missing", Err: errors.New("/usr/bin/git: no")}, Unavailable, "git is missing"},
	} {
		if got := KindOf(c.err); got != c.kind {
			t.Errorf("%s: kind %q, want %q", c.name, got, c.kind)
		}
		if c.err == nil {
			continue
		}
		got := MessageOf(c.err)
		if c.msg != "" && got != c.msg || c.msg == "" && (strings.Contains(got, "secret") || strings.Contains(got, "sk-1")) {
			t.Errorf("%s: the caller reads %q, want %q", c.name, got, c.msg)
		}
	}
}

func TestErrorKeepsItsCauseForTheLog(t *testing.T) {
	cause := errors.New("exit status 128")
	err := &Error{Kind: Internal, Msg: "write a snapshot", Err: cause}
	if !errors.Is(err, cause) || err.Error() != "write a snapshot: exit status 128" {
		t.Errorf("got %q, which does not hold its cause", err)
	}
}

func TestProblemsAreToldAllAtOnce(t *testing.T) {
	var p Problems
	if err := p.Err("nothing was created:"); err != nil || p.Len() != 0 {
		t.Fatalf("no problems give %v", err)
	}
	p.Addf("duplicate node key %q", "a")
	p.Add(nil)
	p.Add(Errorf(Invalid, "unknown kind %q", "robot"))
	p.Add(errors.New("disk at /secret"))
	err := p.Err("nothing was created:")
	if KindOf(err) != Invalid || p.Len() != 3 {
		t.Errorf("got %d problems of kind %s, want 3 invalid ones", p.Len(), KindOf(err))
	}
	want := "nothing was created:\n- duplicate node key \"a\"\n- unknown kind \"robot\"\n- "
	if !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %q, want it to begin with %q and to keep foreign errors to itself", err, want)
	}
}
