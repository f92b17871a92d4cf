package views

import (
	"strings"
	"testing"
)

func TestMarkdownIsLaidOut(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"**bold** `code`", "<p><strong>bold</strong> <code>code</code></p>"},
		{"- one\n- two", "<ul>\n<li>one</li>\n<li>two</li>\n</ul>"},
		{"| a |\n|---|\n| b |", "<th>a</th>"},
		{"~~gone~~", "<del>gone</del>"},
		{"- [x] done", `<input checked="" disabled="" type="checkbox">`},
		{"https://example.com", `href="https://example.com" rel="nofollow noreferrer`},
		{"![a word](http://evil.example/x.png)", "[image: a word]"},
		{"# Heading", "<h1>Heading</h1>"},
	} {
		if got := render(t, Markdown(c.text)); !strings.Contains(got, c.want) {
			t.Errorf("%q: got %s, want %s in it", c.text, got, c.want)
		}
	}
}

func TestMarkdownDoesNoHarm(t *testing.T) {
	for _, text := range []string{
		`<script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `[a](javascript:alert(1))`, `[a](data:text/html,x)`, `[a](/plans/1/delete)`,
		`<a href="x" onclick=alert(1) hx-post=/demo>a</a>`, `<style>*{display:none}</style>`, `<form action=/demo><button>a</button></form>`,
		"```x\" onmouseover=\"alert(1)\n```", `![x](http://evil.example/x.png)`, `<svg><a xlink:href="javascript:alert(1)">x</a></svg>`, `<div id="page">x</div>`,
	} {
		got := render(t, Markdown(text))
		for _, bad := range []string{"<script", "<img", "<style", "<form", "<svg", "<button", "onclick", "onerror=", "onmouseover=\"alert", "javascript:", "hx-post", `id="`, `href="/`, "data:text"} {
			if strings.Contains(got, bad) && !strings.Contains(got, "&lt;"+strings.TrimPrefix(bad, "<")) {
				t.Errorf("%s became %s", text, got)
			}
		}
	}
}

func TestVeryLongTextIsShownAsItIs(t *testing.T) {
	got := render(t, Markdown("**"+strings.Repeat("a", maxMarkdown)+"<b>"))
	if !strings.HasPrefix(got, `<pre class="plain">**a`) || !strings.HasSuffix(got, "&lt;b&gt;</pre>") {
		t.Errorf("got %.40s … %s", got, got[len(got)-40:])
	}
}

func TestCutsAreAtCharacters(t *testing.T) {
	for _, c := range []struct {
		text string
		max  int
		want string
		more int
	}{{"abc", 3, "abc", 0}, {"abc", 2, "ab", 1}, {"aä", 2, "a", 2}, {"ää", 1, "", 4}} {
		if got, more := cut(c.text, c.max); got != c.want || more != c.more {
			t.Errorf("cut(%q, %d) = %q, %d", c.text, c.max, got, more)
		}
	}
}
