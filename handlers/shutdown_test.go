package handlers

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// TestShutdownWaitsForNobodyWhoListens: open streams of both kinds end at once,
// and calls that are under way are answered.
func TestShutdownWaitsForNobodyWhoListens(t *testing.T) {
	r := newRig(t)
	streams := []*reader{r.listen(""), r.listen("")}
	for _, s := range streams {
		s.next()
	}
	pages := []*watcher{r.watchLive(t, "plans@1"), r.watchLive(t, "plans@1")}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := r.server.Shutdown(ctx); err != nil {
		t.Fatalf("shut down: %v", err)
	}
	for _, s := range streams {
		for more := true; more; {
			_, more = s.next()
		}
	}
	for _, p := range pages {
		for p.body.Scan() {
		}
		if err := p.body.Err(); err != nil {
			t.Errorf("a page's stream was cut off: %v", err)
		}
	}
}

// TestEveryDoorRefusesLargeBodies announces a body that is too large wherever
// one can be sent; it is refused before it comes.
func TestEveryDoorRefusesLargeBodies(t *testing.T) {
	r := newRig(t)
	doors := 0
	for _, route := range newServer(r.engine, Options{}).echo.Routes() {
		if !slices.Contains([]string{"POST", "PUT", "PATCH", "DELETE"}, route.Method) || strings.Contains(route.Path, "*") {
			continue
		}
		doors++
		conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n", route.Method, wildcard.ReplaceAllString(route.Path, "1"), bodyLimit+1)
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%s %s: %v", route.Method, route.Path, err)
		}
		if b, _ := io.ReadAll(res.Body); res.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(string(b), "8 MiB") {
			t.Errorf("%s %s: %s %s", route.Method, route.Path, res.Status, b)
		}
		conn.Close()
	}
	if doors < 50 {
		t.Errorf("only %d doors", doors)
	}
}

// TestFormsThatNeverEndAreRefused: without a length it is noticed while they come,
// and nothing is done with the part that came.
func TestFormsThatNeverEndAreRefused(t *testing.T) {
	r, locked := newRig(t), authRig(t)
	r.plan("a")
	for path, at := range map[string]*rig{"/plans/1/start": r, "/plans/1/settings": r, "/demo": r, "/login": locked} {
		req, err := http.NewRequest("POST", at.url+path, io.MultiReader(bytes.NewReader([]byte("title=")), &endless{bodyLimit + 1<<20}))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		res, err := noRedirects.Do(req)
		if err != nil {
			continue // the connection was ended before all was sent
		}
		b, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: %s %s", path, res.Status, clip(string(b)))
		}
	}
	if all := r.want(200, "GET", "/api/plans/1", nil)["root"].(map[string]any); all["started"] != false {
		t.Error("the plan was started")
	}
	if a := r.do("POST", "/plans/1/start", "executor=%zz", "Content-Type: application/x-www-form-urlencoded"); a.status != http.StatusUnprocessableEntity {
		t.Errorf("a broken form: %s", a)
	}
}
