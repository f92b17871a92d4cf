package main

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/handlers"
)

func TestBothAgentsAreChosenInAllThreeWays(t *testing.T) {
	e := enginetest.Start(t, enginetest.Options(t, nil))
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := handlers.New(e, handlers.Options{Version: "test", URL: "http://" + ln.Addr().String(), Host: "127.0.0.1", Port: ln.Addr().(*net.TCPAddr).Port})
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(ln) }()
	t.Cleanup(func() {
		_ = srv.Shutdown(context.Background())
		if err := <-ended; err != http.ErrServerClosed {
			t.Error(err)
		}
	})
	server, repo := "http://"+ln.Addr().String(), t.TempDir()

	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"--server", server, "--repo", repo, "--cheap", "nobody"}, &out, &errs); code != 1 || !strings.Contains(errs.String(), `no agent "nobody"`) {
		t.Errorf("an unknown agent: %d %s", code, &errs)
	}
	out.Reset()
	if code := run(t.Context(), []string{"--server", server, "--repo", repo, "--mock", "--start"}, &out, &errs); code != 0 {
		t.Fatalf("code %d: %s%s", code, &out, &errs)
	}
	if want := "mock-cheap runs on mock\nmock-strong runs on mock\nPlan 1: " + server + "/plans/1\n"; out.String() != want {
		t.Errorf("it printed\n%s", &out)
	}
	s := enginetest.Until(t, e, 1, "done", enginetest.Status(plan.StatusDone))
	var got []string
	s.Walk(func(n *plan.Node) { got = append(got, n.AgentName) })
	if diff := cmp.Diff([]string{"mock-cheap", "mock-cheap", "mock-strong", "mock-strong"}, got); diff != "" {
		t.Error(diff)
	}
}
