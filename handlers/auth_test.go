package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

const testToken = "correct-horse-battery"

func authRig(t *testing.T) *rig {
	return newRigWith(t, rigOptions{http: Options{AuthToken: testToken}})
}

func TestNothingWithoutTheToken(t *testing.T) {
	r := authRig(t)
	for _, header := range []string{"X-Nothing: 1", "Authorization: Bearer wrong", "Authorization: " + testToken, "Authorization: Basic " + testToken,
		"Cookie: clearbox_1=" + testToken, "Cookie: " + newAuth(Options{AuthToken: testToken, Port: r.port}).cookie + "=" + testToken} {
		for i, e := range everywhere {
			a := r.at(i, header)
			want := http.StatusUnauthorized
			switch {
			case e.path == "/login":
				want = http.StatusOK
			case strings.HasPrefix(e.path, "/mcp-agent"):
				want = http.StatusNotFound // its tokens are its own
			case e.method == "GET" && !strings.HasPrefix(e.path, "/api"):
				want = http.StatusSeeOther
			}
			if a.status != want {
				t.Errorf("%s %s with %s: %s, want %d", e.method, e.path, header, a, want)
			}
		}
	}
	if a := r.do("GET", "/api/health", nil); a.status != http.StatusOK {
		t.Errorf("health: %s", a)
	}
	if a := r.do("GET", "/plans/7?x=1", nil); a.header.Get("Location") != "/login?next=%2Fplans%2F7%3Fx%3D1" {
		t.Errorf("sent to %s", a.header.Get("Location"))
	}
}

func TestTokenOpensEveryDoor(t *testing.T) {
	r := authRig(t)
	for i, e := range everywhere {
		if a := r.at(i, "Authorization: bearer "+testToken); a.status == http.StatusUnauthorized || a.status == http.StatusSeeOther {
			t.Errorf("%s %s: %s", e.method, e.path, a)
		}
	}
}

func logIn(r *rig, token, next string) answer {
	form := url.Values{"token": {token}, "next": {next}}.Encode()
	return r.do("POST", "/login", form, "Content-Type: application/x-www-form-urlencoded", "Origin: "+r.url)
}

func TestBrowsersTradeTheTokenForACookie(t *testing.T) {
	r := authRig(t)
	if a := logIn(r, "wrong", "/"); a.status != http.StatusUnauthorized || a.header.Get("Set-Cookie") != "" || !strings.Contains(string(a.body), "not the token") {
		t.Errorf("wrong token: %s", a)
	}
	a := logIn(r, testToken, "/plans/7")
	set := a.header.Get("Set-Cookie")
	if a.status != http.StatusSeeOther || a.header.Get("Location") != "/plans/7" {
		t.Fatalf("log in: %s to %s", a, a.header.Get("Location"))
	}
	for _, want := range []string{"HttpOnly", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(set, want) {
			t.Errorf("cookie %q has no %s", set, want)
		}
	}
	if strings.Contains(set, testToken) || strings.Contains(set, "Secure") {
		t.Errorf("cookie %q", set)
	}
	cookie := "Cookie: " + strings.Split(set, ";")[0]
	if a := r.do("GET", "/api/plans", nil, cookie); a.status != http.StatusOK {
		t.Errorf("with the cookie: %s", a)
	}
	if a := r.do("GET", "/api/plans", nil, cookie+"x"); a.status != http.StatusUnauthorized {
		t.Errorf("with a changed cookie: %s", a)
	}
	forged := "Cookie: " + strings.Replace(cookie[8:], "=", "=9", 1)
	if a := r.do("GET", "/api/plans", nil, forged); a.status != http.StatusUnauthorized {
		t.Errorf("with a longer life: %s", a)
	}
	out := r.do("POST", "/logout", "", cookie, "Origin: "+r.url)
	if !strings.Contains(out.header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("logout: %q", out.header.Get("Set-Cookie"))
	}
	if log := r.log.String(); strings.Contains(log, testToken) {
		t.Error("the token is in the log")
	}
}

func TestSessionsEnd(t *testing.T) {
	a := newAuth(Options{AuthToken: testToken, Port: 1})
	now := time.Now()
	a.now = func() time.Time { return now }
	req, _ := http.NewRequest("GET", "/", nil)
	req.AddCookie(&http.Cookie{Name: a.cookie, Value: a.session("1")})
	if a.hasSession(req) {
		t.Error("a session that has ended is taken")
	}
	other := newAuth(Options{AuthToken: "another", Port: 1})
	if newAuth(Options{AuthToken: testToken, Port: 1}).session("99") == other.session("99") {
		t.Error("another token makes the same sessions")
	}
}

func TestLoginLeadsNowhereElse(t *testing.T) {
	for next, want := range map[string]string{"/plans/1": "/plans/1", "/plans?x=1#y": "/plans?x=1#y", "": "/", "//evil.example": "/", "https://evil.example": "/",
		`/\evil.example`: "/", "javascript:alert(1)": "/", "plans": "/", "/x\r\nSet-Cookie: a=b": "/"} {
		if got := ownPath(next); got != want {
			t.Errorf("next=%q leads to %q", next, got)
		}
	}
}

func TestLoginPageIsPlain(t *testing.T) {
	r := authRig(t)
	a := r.do("GET", `/login?next=/"><script>alert(1)</script>`, nil)
	page := string(a.body)
	if strings.Contains(page, "<script") || strings.Contains(page, "style=") || !strings.Contains(page, `type="password"`) {
		t.Errorf("page:\n%s", page)
	}
	if css := r.do("GET", "/login.css", nil); css.header.Get("Content-Type") != "text/css; charset=utf-8" {
		t.Errorf("style: %s", css)
	}
	if a := newRig(t).do("GET", "/login", nil); a.status != http.StatusSeeOther {
		t.Errorf("without a token there is nothing to log in to: %s", a)
	}
}
