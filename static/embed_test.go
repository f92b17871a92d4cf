package static

import (
	"bytes"
	"compress/gzip"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestEveryFileIsServedUnderItsHash(t *testing.T) {
	f := Load()
	for name, mime := range map[string]string{"app.css": "text/css; charset=utf-8", "pages.css": "text/css; charset=utf-8", "changes.css": "text/css; charset=utf-8", "report.css": "text/css; charset=utf-8", "app.js": "text/javascript; charset=utf-8",
		"boot.js": "text/javascript; charset=utf-8", "live-worker.js": "text/javascript; charset=utf-8",
		"watch.js":    "text/javascript; charset=utf-8",
		"htmx.min.js": "text/javascript; charset=utf-8", "favicon.svg": "image/svg+xml", "favicon-marked.svg": "image/svg+xml"} {
		url := f.URL(name)
		if !regexp.MustCompile(`^/static/[a-z.-]+\.[0-9a-f]{12}\.(css|js|svg)$`).MatchString(url) {
			t.Errorf("%s has the address %q", name, url)
		}
		w := httptest.NewRecorder()
		f.ServeHTTP(w, httptest.NewRequest(http.MethodGet, url, nil))
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != mime || w.Body.Len() == 0 {
			t.Errorf("%s: %d %s, %d bytes", url, w.Code, w.Header().Get("Content-Type"), w.Body.Len())
		}
		if got := w.Header().Get("Cache-Control"); !strings.Contains(got, "immutable") {
			t.Errorf("%s may be kept: %q", url, got)
		}
	}
}

func TestOtherNamesAreNotFound(t *testing.T) {
	f := Load()
	for _, path := range []string{"/static/", "/static/app.css", "/static/../embed.go", "/static/vendor/htmx.min.js"} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "/static/x", nil)
		r.URL.Path = path
		f.ServeHTTP(w, r)
		if w.Code != http.StatusNotFound || strings.Contains(w.Header().Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d %q", path, w.Code, w.Header().Get("Cache-Control"))
		}
	}
	if f.URL("nothing.js") != "" {
		t.Error("a file that does not exist has an address")
	}
}

func TestScriptsStaySmall(t *testing.T) {
	sum := 0
	for _, name := range names {
		if !strings.HasSuffix(name, ".js") {
			continue
		}
		b, err := embedded.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		_, _ = w.Write(b) // a buffer takes everything
		_ = w.Close()
		sum += z.Len()
	}
	if most := 40_000; sum > most {
		t.Errorf("scripts take %d bytes on the wire, more than %d", sum, most)
	}
}

// colours reads the palette: for each name its light and its dark colour.
func colours(t *testing.T) map[string][2][3]float64 {
	t.Helper()
	var css []byte
	for _, name := range []string{"app.css", "changes.css"} {
		b, err := embedded.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		css = append(css, b...)
	}
	all := map[string][2][3]float64{}
	for _, m := range regexp.MustCompile(`--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);`).FindAllStringSubmatch(string(css), -1) {
		all[m[1]] = [2][3]float64{rgb(m[2]), rgb(m[3])}
	}
	return all
}

func rgb(hex string) (c [3]float64) {
	for i := range c {
		n, _ := strconv.ParseUint(hex[1+2*i:3+2*i], 16, 8) // the pattern lets only digits through
		c[i] = float64(n) / 255
	}
	return c
}

// contrast is that of WCAG 2.
func contrast(a, b [3]float64) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(c [3]float64) float64 {
	l := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v := c[i] / 12.92
		if c[i] > 0.04045 {
			v = math.Pow((c[i]+0.055)/1.055, 2.4)
		}
		l += weight * v
	}
	return l
}

func TestTextCanBeReadInBothThemes(t *testing.T) {
	all := colours(t)
	const text, shape = 4.5, 3.0
	pairs := map[string]float64{}
	for _, fg := range []string{"text", "muted", "accent", "pending", "ready", "running", "done", "failed", "you", "skipped", "stopped"} {
		for _, bg := range []string{"bg", "surface", "raised", "sunken"} {
			pairs[fg+" on "+bg] = text
		}
	}
	for _, state := range []string{"running", "failed", "you", "done"} {
		pairs["text on "+state+"-bg"], pairs["muted on "+state+"-bg"], pairs[state+" on "+state+"-bg"] = text, text, text
	}
	for _, x := range []string{"x-comment", "x-string", "x-number", "x-keyword", "x-call", "x-key", "x-tag", "text"} {
		for _, bg := range []string{"surface", "done-bg", "failed-bg", "add-word", "del-word"} {
			pairs[x+" on "+bg] = text
		}
	}
	pairs["on-solid on accent-solid"] = text
	pairs["surface on you"] = text // the count in the sidebar
	pairs["accent on bg"] = shape
	for pair, least := range pairs {
		fg, bg, _ := strings.Cut(pair, " on ")
		if _, ok := all[fg]; !ok {
			t.Fatalf("the palette has no %s", fg)
		}
		if _, ok := all[bg]; !ok {
			t.Fatalf("the palette has no %s", bg)
		}
		for i, theme := range []string{"light", "dark"} {
			if got := contrast(all[fg][i], all[bg][i]); got < least {
				t.Errorf("%s, %s: contrast %.2f, must be %.1f", theme, pair, got, least)
			}
		}
	}
}
