package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDifferencesCountWhatIsLostDoubledOrOutOfOrder(t *testing.T) {
	want := []int64{2, 4, 6, 8}
	for _, c := range []struct {
		name string
		got  []int64
		n    int
	}{
		{"all", []int64{2, 4, 6, 8}, 0},
		{"nothing", nil, 4},
		{"one lost in the middle", []int64{2, 4, 8}, 1},
		{"the last lost", []int64{2, 4, 6}, 1},
		{"one twice", []int64{2, 4, 4, 6, 8}, 1},
		{"one that was not stored", []int64{2, 4, 5, 6, 8}, 1},
		{"two in the wrong order", []int64{2, 6, 4, 8}, 2},
	} {
		if got := differences(want, c.got); got != c.n {
			t.Errorf("%s: %d, want %d", c.name, got, c.n)
		}
	}
}

func entry(id int, kind string) string {
	return fmt.Sprintf("id: %d\ndata: {\"type\":\"event\",\"event\":{\"id\":%d,\"kind\":%q,\"data\":{\"kind\":\"x\"}}}\n\n", id, id, kind)
}

// streamed is a server whose stream breaks off after each of some parts.
func streamed(t *testing.T, parts ...string) (s *server, asked func() []string) {
	t.Helper()
	var n atomic.Int64
	came := make(chan string, 100)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		came <- r.Header.Get("Last-Event-ID")
		fmt.Fprint(w, "event: hello\nid: 1\ndata: {}\n\n")
		i := int(n.Add(1)) - 1
		if i < len(parts) {
			fmt.Fprint(w, parts[i])
			return
		}
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(h.Close)
	return &server{base: h.URL, streams: &http.Transport{DisableKeepAlives: true}}, func() []string {
		var all []string
		for len(came) > 0 {
			all = append(all, <-came)
		}
		return all
	}
}

func TestASubscriberComesBackWhereItWas(t *testing.T) {
	s, asked := streamed(t, entry(2, "text")+entry(3, "log"), entry(4, "text")+"id: 5\ndata: {\"type\":\"resync\"}\n\n", entry(6, "text"))
	a, err := s.subscribe(t.Context(), 1, "/api/stream")
	if err != nil {
		t.Fatal(err)
	}
	if err := a.reach(t.Context(), 6); err != nil {
		t.Fatal(err)
	}
	if err := a.end(); err != nil {
		t.Fatal(err)
	}
	sub := a.subs[0]
	if diff := cmp.Diff([]int64{2, 3, 4, 6}, sub.events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if sub.resyncs != 1 || sub.kinds["text"].n != 3 || sub.kinds["log"].n != 1 || sub.kinds["x"] != nil {
		t.Errorf("got %d resyncs and %d kinds", sub.resyncs, len(sub.kinds))
	}
	if got := asked(); len(got) < 3 || got[0] != "" || got[1] != "3" || got[2] != "5" {
		t.Errorf("it asked for what came after %q", got)
	}
}

func TestASubscriberThatIsRefusedIsAnError(t *testing.T) {
	h := httptest.NewServer(http.NotFoundHandler())
	defer h.Close()
	s := &server{base: h.URL, streams: &http.Transport{DisableKeepAlives: true}}
	if _, err := s.subscribe(t.Context(), 2, "/api/stream"); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("got error %v, want one that says 404", err)
	}
}
