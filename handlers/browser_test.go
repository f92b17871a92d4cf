package handlers

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// browserPatience bounds what a test waits for that has to come. It costs nothing
// where that does come, and machines can be slow.
const browserPatience = 90 * time.Second

// browser is a Chromium without a window. It keeps one tab for those who need no
// other: a new one costs more than most tests do in it.
type browser struct {
	ctx  context.Context
	kept *tab
	lent bool
}

// openBrowser starts a Chromium for a test and those in it. Without one the test
// is skipped, unless CLEARBOX_REQUIRE_BROWSER is set.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	path := chromium()
	if path == "" {
		if os.Getenv("CLEARBOX_REQUIRE_BROWSER") != "" {
			t.Fatal("no Chromium was found, and CLEARBOX_REQUIRE_BROWSER is set")
		}
		t.Skip("no Chromium was found: install one, or set CLEARBOX_CHROMIUM to its path")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.DisableGPU,
		chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1440, 900),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	alloc, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, quit := chromedp.NewContext(alloc)
	t.Cleanup(func() {
		quit()
		stop()
	})
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		t.Fatalf("start %s: %v", path, err)
	}
	return &browser{ctx: ctx}
}

// chromium finds one. That which has no windows at all takes a third of the time.
func chromium() string {
	for _, name := range []string{os.Getenv("CLEARBOX_CHROMIUM"), "chromium-headless-shell", "chrome-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	return ""
}

// tab is one page in a browser. What its console says about faults fails the
// test at its end.
type tab struct {
	t    testing.TB
	base string

	ctx  context.Context
	stop context.CancelFunc
	read chan struct{} // closed when its console has ended

	mu      sync.Mutex
	faults  []string
	ignored []string
}

// tab lends the tab that is kept, as if it were new: what pages store is theirs by
// the port of their server. After a test that failed there is another.
func (b *browser) tab(t testing.TB, base string) *tab {
	t.Helper()
	if b.lent {
		t.Fatal("the tab is lent already: use another()")
	}
	if b.kept == nil {
		b.kept = newTab(chromedp.NewContext(b.ctx))
	}
	p := b.kept
	b.lent = true
	t.Cleanup(func() { // after it was left
		b.lent = false
		if t.Failed() {
			p.close()
			b.kept = nil
		}
	})
	p.lend(t, base)
	p.size(1440, 900)
	p.front()
	return p
}

// another opens a second tab that shares cookies, storage and workers.
func (p *tab) another() *tab {
	p.t.Helper()
	q := newTab(chromedp.NewContext(p.ctx))
	p.t.Cleanup(q.close)
	q.lend(p.t, p.base)
	return q
}

func newTab(ctx context.Context, stop context.CancelFunc) *tab {
	p := &tab{ctx: ctx, stop: stop, read: make(chan struct{})}
	console := chromedp.Console(ctx)
	go func() {
		defer close(p.read)
		for m, err := range console {
			if err != nil {
				return
			}
			if m.Type == chromedp.ConsoleError || m.Type == chromedp.ConsoleException || m.Source == "security" {
				p.mu.Lock()
				p.faults = append(p.faults, fmt.Sprintf("%s (%s:%d)", m.Text, m.URL, m.Line))
				p.mu.Unlock()
			}
		}
	}()
	return p
}

func (p *tab) close() {
	p.stop()
	<-p.read
}

// lend gives the tab to a test, with nothing in it, and takes it back at its end.
func (p *tab) lend(t testing.TB, base string) {
	t.Helper()
	p.mu.Lock()
	p.t, p.base, p.faults, p.ignored = t, base, nil, nil
	p.mu.Unlock()
	p.dark(false)
	t.Cleanup(func() {
		p.do("leave", chromedp.Navigate("about:blank"))
		p.check()
	})
}

// ignore names a part of console messages that are no fault in this test.
func (p *tab) ignore(part string) { p.ignored = append(p.ignored, part) }

// check fails the test if the console told of a fault.
func (p *tab) check() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
next:
	for _, f := range p.faults {
		for _, part := range p.ignored {
			if strings.Contains(f, part) {
				continue next
			}
		}
		p.t.Errorf("the console says: %s", f)
	}
}

func (p *tab) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, browserPatience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		p.t.Fatalf("%s: %v", what, err)
	}
}

// open goes to a page and waits until its script has begun.
func (p *tab) open(path string) {
	p.t.Helper()
	p.do("open "+path, chromedp.Navigate(p.base+path))
	p.until("the page is ready", `document.readyState === 'complete'`)
}

// visit goes to a page as a link does: the document stays, and its scripts.
func (p *tab) visit(path string) {
	p.t.Helper()
	p.eval(`(() => {
		window.left = [...document.querySelectorAll('#page, #drawer')];
		const a = document.createElement('a');
		a.href = ` + quote(path) + `;
		document.body.append(a);
		a.click();
		a.remove();
	})()`)
	p.until("the page is "+path, `!window.left || window.left.some(e => !e.isConnected)`)
}

// eval returns the value of an expression.
func (p *tab) eval(expression string) any {
	p.t.Helper()
	v, err := p.try(expression)
	if err != nil {
		p.t.Fatalf("evaluate %s: %v", expression, err)
	}
	return v
}

func (p *tab) try(expression string) (v any, err error) {
	ctx, cancel := context.WithTimeout(p.ctx, browserPatience)
	defer cancel()
	raw, err := chromedp.Run(ctx, chromedp.Evaluate[[]byte]("Promise.resolve("+expression+").then(v => v ?? null)", chromedp.EvalAwaitPromise))
	if err != nil {
		return nil, err
	}
	err = json.Unmarshal(raw, &v)
	return v, err
}

// until waits until an expression is true.
func (p *tab) until(what, expression string) {
	p.t.Helper()
	deadline := time.Now().Add(browserPatience)
	for {
		v, err := p.try("!!(" + expression + ")")
		if err == nil && v == true {
			return
		}
		if time.Now().After(deadline) {
			p.shoot("stuck-" + strings.NewReplacer("/", "-", ",", "").Replace(p.t.Name()))
			p.t.Fatalf("it never came to: %s (%s; %v)\n%v", what, expression, err, p.eval("document.body.innerText"))
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-p.ctx.Done():
			p.t.Fatalf("%s: %v", what, p.ctx.Err())
		}
	}
}

// text returns the visible text of the first element that matches.
func (p *tab) text(selector string) string {
	p.t.Helper()
	s, _ := p.eval("document.querySelector(" + quote(selector) + ")?.innerText").(string)
	return strings.TrimSpace(s)
}

// shows waits until an element's text contains words.
func (p *tab) shows(selector, words string) {
	p.t.Helper()
	p.until(selector+" shows "+words, "document.querySelector("+quote(selector)+")?.innerText.includes("+quote(words)+")")
}

// has waits until an element is there and to be seen.
func (p *tab) has(selector string) {
	p.t.Helper()
	p.until(selector+" is there", "document.querySelector("+quote(selector)+")?.checkVisibility({visibilityProperty: true})")
}

// lacks waits until no such element is to be seen.
func (p *tab) lacks(selector string) {
	p.t.Helper()
	p.until(selector+" is not there", "!document.querySelector("+quote(selector)+")?.checkVisibility({visibilityProperty: true})")
}

// click clicks where an element is, as a person would.
func (p *tab) click(selector string) {
	p.t.Helper()
	p.has(selector)
	p.do("click "+selector, chromedp.Click(chromedp.CSS(selector)))
}

func (p *tab) fill(selector, text string) {
	p.t.Helper()
	p.has(selector)
	p.do("fill in "+selector, chromedp.SendKeys(chromedp.CSS(selector), text))
}

// press presses keys wherever the focus is.
func (p *tab) press(keys ...string) {
	p.t.Helper()
	for _, k := range keys {
		if len(k) == 1 && k > " " {
			p.letter(k)
			continue
		}
		p.do("press "+k, chromedp.KeyEvent(k))
	}
}

func doubleClick(selector string) chromedp.Action[chromedp.Void] {
	return chromedp.DoubleClick(chromedp.CSS(selector))
}

// letter presses a key as keyboards do: what takes the key takes its letter too.
func (p *tab) letter(k string) {
	p.t.Helper()
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeKeyDown, input.DispatchKeyEventTypeKeyUp} {
		e := input.DispatchKeyEventParams{Type: kind, Key: k}
		if kind == input.DispatchKeyEventTypeKeyDown {
			e.Text = k
		}
		if _, err := chromedp.Call(p.ctx, input.DispatchKeyEvent, e); err != nil {
			p.t.Fatalf("press %s: %v", k, err)
		}
	}
}

// Keys by the names that the help uses.
const (
	keyUp, keyDown, keyLeft, keyRight = kb.ArrowUp, kb.ArrowDown, kb.ArrowLeft, kb.ArrowRight
	keyEnter, keyEscape               = kb.Enter, kb.Escape
)

func (p *tab) size(width, height int64) {
	p.t.Helper()
	p.do("set the size", chromedp.EmulateViewport(width, height))
}

// dark sets what the system prefers. Nothing moves by itself in any case: a click
// has to hit what it aims at.
func (p *tab) dark(on bool) {
	p.t.Helper()
	value := map[bool]string{true: "dark", false: "light"}[on]
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: value}, {Name: "prefers-reduced-motion", Value: "reduce"}}})
	if err != nil {
		p.t.Fatalf("set the colours: %v", err)
	}
}

// front makes the tab the one that is looked at.
func (p *tab) front() {
	p.t.Helper()
	if _, err := chromedp.Call(p.ctx, page.BringToFront, cdp.Empty{}); err != nil {
		p.t.Fatalf("bring to front: %v", err)
	}
}

// fits waits until no text needs more room across than its element has.
func (p *tab) fits(what string) {
	p.t.Helper()
	deadline := time.Now().Add(browserPatience)
	for {
		out, _ := p.eval(overflowing).([]any)
		if len(out) == 0 {
			return
		}
		if time.Now().After(deadline) {
			p.shoot("overflow")
			p.t.Fatalf("%s: this sticks out: %v", what, out)
		}
	}
}

// overflowing lists the elements whose content is wider than they are, unless
// they cut or scroll it, and the page itself if it scrolls across.
const overflowing = `[document.documentElement, ...document.querySelectorAll('#page *, #sidebar *')].filter(e => {
	if (!e.checkVisibility({visibilityProperty: true}) || e.closest('svg:not(#graph)') || e.closest('.hidden-text')) return false;
	const style = getComputedStyle(e);
	return (e === document.documentElement || style.overflowX === 'visible') && style.display !== 'inline' && style.display !== 'contents' &&
		e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0;
}).map(e => e.tagName + '.' + (e.getAttribute('class') ?? '') + '#' + e.id + ' ' + e.scrollWidth + '>' + e.clientWidth)`

// shoot takes a picture where CLEARBOX_SCREENS names a folder.
func (p *tab) shoot(name string) {
	p.t.Helper()
	dir := os.Getenv("CLEARBOX_SCREENS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(dir+"/"+name+".png", png, 0o644)
	}
	if err != nil {
		p.t.Fatalf("take a picture: %v", err)
	}
}

func quote(s string) string {
	b, _ := json.Marshal(s) // a string always encodes
	return string(b)
}
