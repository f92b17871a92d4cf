package handlers

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// bodyLimit is the size of the largest request body, in bytes.
const bodyLimit = 8 << 20

var tooLargeText = fmt.Sprintf("the body is too large; the limit is %d MiB", bodyLimit>>20)

// contentPolicy lets pages load what this server serves and nothing else.
const contentPolicy = "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; worker-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// permissionsPolicy gives up what no page of ours asks of a browser.
const permissionsPolicy = "accelerometer=(), autoplay=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), " +
	"microphone=(), midi=(), payment=(), publickey-credentials-get=(), usb=(), xr-spatial-tracking=()"

// guard stands before everything, routing included: whom the request is meant
// for, where it comes from, how large it is and whether it may come in at all.
func (s *server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		secure(w.Header())
		if !s.hosts.allow(r.Host) {
			http.Error(w, fmt.Sprintf("Host %s is not allowed; start the server with --allowed-host to allow it",
				clip(strconv.Quote(r.Host))), http.StatusMisdirectedRequest)
			return
		}
		for _, origin := range r.Header.Values("Origin") {
			if !s.hosts.allowOrigin(origin, r.Host) {
				http.Error(w, fmt.Sprintf("Origin %s is not allowed", clip(strconv.Quote(origin))), http.StatusForbidden)
				return
			}
		}
		if r.ContentLength > bodyLimit {
			refuse(w, r, http.StatusRequestEntityTooLarge, tooLargeText)
			return
		}
		if r.Body != nil && r.Body != http.NoBody {
			r.Body = prompt(w, http.MaxBytesReader(plainest(w), r.Body, bodyLimit), bodyTime)
		}
		if s.auth != nil && !s.auth.admit(w, r) {
			return
		}
		next.ServeHTTP(w, r)
	})
}

// plainest returns the writer of the HTTP server itself: MaxBytesReader tells it
// to end a connection whose client sends too much.
func plainest(w http.ResponseWriter) http.ResponseWriter {
	for {
		around, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return w
		}
		w = around.Unwrap()
	}
}

// secure sets the headers that every answer has. What may be kept by browsers
// says so itself.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	// Not no-referrer: with that, browsers send "Origin: null" with forms.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", permissionsPolicy)
	h.Set("Cache-Control", "no-store")
}

// refuse answers before routing, in the form that the path calls for.
func refuse(w http.ResponseWriter, r *http.Request, status int, text string) {
	if !wantsJSON(r) {
		http.Error(w, text, status)
		return
	}
	b, _ := marshal(failure{text}) // a string always encodes
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b)
}

// hosts knows the names that this server goes by.
type hosts struct {
	port  string
	names map[string]bool // without port
	exact map[string]bool // with a port of their own
}

func newHosts(o Options) hosts {
	h := hosts{port: strconv.Itoa(o.Port), names: map[string]bool{}, exact: map[string]bool{}}
	for _, name := range append([]string{bracketed(o.Host)}, o.AllowedHosts...) {
		name = strings.ToLower(strings.TrimSpace(name))
		switch host, port, ok := splitHost(name); {
		case !ok || isWildcard(host):
		case port != "":
			h.exact[name] = true
		default:
			h.names[host] = true
		}
	}
	return h
}

// bracketed writes a bare IPv6 address as Host headers do.
func bracketed(host string) string {
	if a, err := netip.ParseAddr(host); err == nil && a.Is6() {
		return "[" + host + "]"
	}
	return host
}

func isWildcard(host string) bool {
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return host == "" || err == nil && a.IsUnspecified()
}

// splitHost takes a Host apart; IPv6 addresses keep their brackets. ok is false
// for what is no host.
func splitHost(s string) (name, port string, ok bool) {
	end := 0
	if strings.HasPrefix(s, "[") {
		if end = strings.IndexByte(s, ']') + 1; end == 0 {
			return "", "", false
		}
	}
	at := strings.IndexByte(s[end:], ':')
	if at < 0 {
		return s, "", end == 0 || end == len(s)
	}
	name, port = s[:end+at], s[end+at+1:]
	_, err := strconv.ParseUint(port, 10, 16)
	return name, port, err == nil && (end == 0 || at == 0)
}

// allow reports whether a Host header names this server: loopback, what it is
// bound to or an allowed name, with its port or without any.
func (h *hosts) allow(host string) bool {
	host = strings.ToLower(host)
	name, port, ok := splitHost(host)
	if !ok {
		return false
	}
	return h.exact[host] || (port == "" || port == h.port) && (h.names[name] || isLoopback(name))
}

// allowOrigin reports whether a page of some origin may call: one that this
// server served, under the Host at hand or another of its names. A loopback name
// without a port means port 80, which belongs to someone else.
func (h *hosts) allowOrigin(origin, host string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Path != "" || u.User != nil {
		return false
	}
	if strings.EqualFold(u.Host, host) {
		return true
	}
	name, port, ok := splitHost(strings.ToLower(u.Host))
	if ok && port == "" && isLoopback(name) {
		return h.port == map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return ok && h.allow(u.Host)
}

func isLoopback(name string) bool {
	a, err := netip.ParseAddr(strings.Trim(name, "[]"))
	return name == "localhost" || err == nil && a.IsLoopback()
}
