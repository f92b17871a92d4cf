package handlers

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
)

// sessionLife is how long a browser stays logged in.
const sessionLife = 30 * 24 * time.Hour

// auth lets in who knows the token: programs send it, browsers trade it for a
// cookie. The cookie holds a value that is derived from the token, so the token
// cannot be read out of a browser, and another token ends all sessions.
type auth struct {
	token  [sha256.Size]byte // its hash: comparing takes the same time for any guess
	key    []byte
	cookie string
	now    func() time.Time

	guesses *throttle // at the login page
}

func newAuth(o Options) *auth {
	if o.AuthToken == "" {
		return nil
	}
	mac := hmac.New(sha256.New, []byte(o.AuthToken))
	mac.Write([]byte("clearbox browser session"))
	return &auth{token: sha256.Sum256([]byte(o.AuthToken)), key: mac.Sum(nil), now: time.Now, guesses: newThrottle(),
		cookie: "clearbox_" + strconv.Itoa(o.Port)} // cookies are shared by all ports of a host
}

// admit reports whether a request may go on; it has answered those that may not.
func (a *auth) admit(w http.ResponseWriter, r *http.Request) bool {
	if isPublic(r.URL.Path) || a.hasToken(r) || a.hasSession(r) {
		return true
	}
	if r.Method == http.MethodGet && !wantsJSON(r) {
		http.Redirect(w, r, "/login?next="+url.QueryEscape(r.URL.RequestURI()), http.StatusSeeOther)
		return false
	}
	w.Header().Set("WWW-Authenticate", "Bearer")
	refuse(w, r, http.StatusUnauthorized, "this server needs its token: send it as Authorization: Bearer TOKEN")
	return false
}

// isPublic names what can be had without the token: the way in, what it looks
// like, and the doors of workers, whose tokens are their own.
func isPublic(path string) bool {
	switch path {
	case "/login", "/login.css", "/api/health", "/favicon.ico":
		return true
	}
	return strings.HasPrefix(path, "/mcp-agent/") || strings.HasPrefix(path, "/static/") || strings.HasPrefix(path, "/.well-known/")
}

func (a *auth) hasToken(r *http.Request) bool {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	return ok && strings.EqualFold(scheme, "Bearer") && a.isToken(strings.TrimSpace(token))
}

func (a *auth) isToken(guess string) bool {
	h := sha256.Sum256([]byte(guess))
	return subtle.ConstantTimeCompare(h[:], a.token[:]) == 1
}

func (a *auth) hasSession(r *http.Request) bool {
	c, err := r.Cookie(a.cookie)
	if err != nil {
		return false
	}
	until, _, ok := strings.Cut(c.Value, ".")
	if !ok || !hmac.Equal([]byte(c.Value), []byte(a.session(until))) {
		return false
	}
	end, err := strconv.ParseInt(until, 10, 64)
	return err == nil && a.now().Unix() < end
}

// session makes the value of a cookie that is good until a moment.
func (a *auth) session(until string) string {
	mac := hmac.New(sha256.New, a.key)
	mac.Write([]byte(until))
	return until + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// setCookie begins a session, or (life < 0) ends it.
func (a *auth) setCookie(c echo.Context, life time.Duration) {
	until := strconv.FormatInt(a.now().Add(life).Unix(), 10)
	secure := strings.HasPrefix(c.Request().Header.Get("Origin"), "https:") || c.Request().TLS != nil
	c.SetCookie(&http.Cookie{Name: a.cookie, Value: a.session(until), Path: "/", MaxAge: int(life.Seconds()),
		HttpOnly: true, Secure: secure, SameSite: http.SameSiteStrictMode})
}

// login mounts the page where a browser trades the token for a session.
func (s *server) login() {
	s.echo.GET("/login", func(c echo.Context) error {
		if s.auth == nil {
			return c.Redirect(http.StatusSeeOther, "/")
		}
		return loginPage(c, http.StatusOK, "")
	})
	s.echo.GET("/login.css", func(c echo.Context) error {
		c.Response().Header().Set("Cache-Control", "max-age=3600")
		return c.Blob(http.StatusOK, "text/css; charset=utf-8", []byte(loginStyle))
	})
	s.echo.POST("/login", s.logIn)
	s.echo.POST("/logout", func(c echo.Context) error {
		if s.auth != nil {
			s.auth.setCookie(c, -time.Hour)
		}
		return c.Redirect(http.StatusSeeOther, "/login")
	})
}

func (s *server) logIn(c echo.Context) error {
	if s.auth == nil {
		return c.Redirect(http.StatusSeeOther, "/")
	}
	from := c.Request().RemoteAddr
	if wait := s.auth.guesses.take(from); wait > 0 {
		s.metrics.loginRefused()
		seconds := strconv.Itoa(int(wait.Seconds()) + 1)
		c.Response().Header().Set("Retry-After", seconds)
		return loginPage(c, http.StatusTooManyRequests, "Too many wrong tokens came from your address. Try again in "+seconds+" seconds.")
	}
	if !s.auth.isToken(strings.TrimSpace(c.FormValue("token"))) {
		s.metrics.loginRefused()
		s.log.Warn("login refused", "from", from)
		return loginPage(c, http.StatusUnauthorized, "That is not the token of this server.")
	}
	s.auth.guesses.giveBack(from)
	s.auth.setCookie(c, sessionLife)
	return c.Redirect(http.StatusSeeOther, ownPath(c.FormValue("next")))
}

// ownPath returns a path of this server to go on to, "/" for anything else.
func ownPath(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") ||
		strings.ContainsAny(next, "\\\r\n") {
		return "/"
	}
	return next
}

func loginPage(c echo.Context, status int, fault string) error {
	c.Response().Header().Set("Cache-Control", "no-store")
	var page strings.Builder
	if err := loginTemplate.Execute(&page, map[string]string{"Fault": fault, "Next": ownPath(c.FormValue("next"))}); err != nil {
		return fmt.Errorf("draw the login page: %w", err)
	}
	return c.HTML(status, page.String())
}

var loginTemplate = template.Must(template.New("login").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Log in · Clearbox</title><link rel="stylesheet" href="/login.css"></head>
<body><main><h1>Clearbox</h1>
<form method="post" action="/login">
<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus{{if .Fault}} aria-invalid="true" aria-describedby="fault"{{end}}>
{{if .Fault}}<p id="fault" role="alert">{{.Fault}}</p>{{end}}
<input type="hidden" name="next" value="{{.Next}}">
<button>Log in</button>
</form>
<p class="hint">The token is in the file that the server was started with (--auth-token-file).</p>
</main></body></html>
`))

const loginStyle = `:root{color-scheme:light dark}
body{margin:0;min-height:100vh;display:grid;place-items:center;font:16px/1.5 system-ui,sans-serif}
main{width:min(22rem,90vw)}
h1{font-size:1.4rem;margin:0 0 1rem}
label{display:block;font-weight:600;margin-bottom:.25rem}
input[type=password]{width:100%;box-sizing:border-box;padding:.5rem .6rem;font:inherit;border:1px solid GrayText;border-radius:6px}
button{margin-top:1rem;padding:.5rem 1.2rem;font:inherit;font-weight:600;border:0;border-radius:6px;background:#2f5fd0;color:#fff;cursor:pointer}
[role=alert]{color:#c62828;margin:.4rem 0 0}
.hint{color:GrayText;font-size:.85rem;margin-top:1.5rem}
`
