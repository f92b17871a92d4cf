package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// answering is a client of a server that always answers the same.
func answering(t *testing.T, status int, body string) *client {
	t.Helper()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(h.Close)
	return newClient(h.URL)
}

func TestAClaimIsRead(t *testing.T) {
	for body, want := range map[string]claimed{
		`{"result":{"content":[{"type":"text","text":"x"}],"structuredContent":{"plan_id":3,"node_id":2,"run":1,"title":"t"}}}`: {3, 2, 1},
		`{"result":{"content":[{"type":"text","text":"null"}],"structuredContent":{"result":null}}}`:                            {},
	} {
		got, ok, err := answering(t, 200, body).claim(t.Context())
		if err != nil || got != want || ok != (want.NodeID != 0) {
			t.Errorf("%s: got %v, %v, %v", body, got, ok, err)
		}
	}
}

func TestRefusedCallsAreErrors(t *testing.T) {
	for _, c := range []struct {
		status     int
		body, want string
	}{
		{200, `{"result":{"isError":true,"content":[{"type":"text","text":"no such step"}]}}`, "no such step"},
		{200, `{"error":{"code":-32602,"message":"bad call"}}`, "bad call"},
		{200, `{"result":{}}`, "refused"},
		{200, `not json`, "read the answer"},
		{500, `{"detail":"broken"}`, "broken"},
	} {
		err := answering(t, c.status, c.body).tool(t.Context(), "x", nil, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want one with %q", c.body, err, c.want)
		}
	}
	if err := answering(t, 404, "{}").get(t.Context(), "/x", nil); !isNotFound(err) {
		t.Errorf("got error %v, want one of something that is not there", err)
	}
}

func TestLayeredPlansAreAsLargeAsTheySay(t *testing.T) {
	for _, shared := range []bool{true, false} {
		for _, n := range []int{40, 100, 2000} {
			p := layered(n, "/w", shared)
			edges := map[[2]string]bool{}
			number := map[string]int{}
			users := map[string]int{}
			for i, s := range p.Nodes {
				number[s.Key] = i
				if len(s.Files) != 2 {
					t.Errorf("step %s has %d files", s.Key, len(s.Files))
				}
				for _, f := range s.Files {
					users[f]++
				}
			}
			for _, e := range p.Edges {
				if edges[e] || number[e[0]]/layer+1 != number[e[1]]/layer {
					t.Errorf("the edge %v is twice there, or not from one layer to the next", e)
				}
				edges[e] = true
			}
			most := 1
			for _, k := range users {
				most = max(most, k)
			}
			if len(number) != n || len(edges) != 2*n || most != 1+boolTo(shared) {
				t.Errorf("%d steps: got %d steps, %d edges, files used up to %d times", n, len(number), len(edges), most)
			}
		}
	}
}

func boolTo(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestParseBenchmarks(t *testing.T) {
	got := parseBenchmarks("goos: linux\nBenchmarkX/n=2000/clients=8-2 \t 2000\t 500000 ns/op\t 2000.5 pairs/s\nBenchmarkLaunch-2 30 12000000 ns/op\n" +
		"BenchmarkPlain 3 7 ns/op\nBenchmarkOdd-name\t3\t7 ns/op\nBenchmarkSaysSomething\nPASS\n")
	want := map[string]map[string]float64{"BenchmarkX/n=2000/clients=8": {"ns/op": 500000, "pairs/s": 2000.5},
		"BenchmarkLaunch": {"ns/op": 12e6}, "BenchmarkPlain": {"ns/op": 7}, "BenchmarkOdd-name": {"ns/op": 7}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
