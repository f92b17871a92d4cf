package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/chromedp/chromedp"
)

// browser is a headless Chromium with one page.
type browser struct {
	tab   context.Context
	close func()
}

// patience is how long a page may take to show something.
const patience = 20 * time.Second

// openBrowser starts a Chromium.
func openBrowser(ctx context.Context) (*browser, error) {
	path := chromium()
	if path == "" {
		return nil, missing("Chromium, or its path in CHROMIUM")
	}
	flags := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(path), chromedp.WindowSize(1440, 900))
	if os.Geteuid() == 0 {
		flags = append(flags, chromedp.NoSandbox) // its sandbox refuses to work for root
	}
	alloc, end := chromedp.NewExecAllocator(ctx, flags...)
	tab, closeTab := chromedp.NewContext(alloc)
	b := &browser{tab, func() { closeTab(); end() }}
	if err := chromedp.Do(tab); err != nil {
		b.close()
		return nil, fmt.Errorf("start Chromium: %w", err)
	}
	return b, nil
}

// chromium returns the path of a Chromium, "" when there is none.
func chromium() string {
	for _, name := range []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chromium-headless-shell",
		"/Applications/Chromium.app/Contents/MacOS/Chromium", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// watcher is what a page needs to say when something has first matched a
// selector: the time of the day in milliseconds.
const watcher = `window.benchWatch = selector => {
	window.benchSeen = new Promise(resolve => {
		const now = () => performance.timeOrigin + performance.now();
		if (document.querySelector(selector)) return resolve(now());
		const observer = new MutationObserver(() => {
			if (!document.querySelector(selector)) return;
			observer.disconnect();
			resolve(now());
		});
		observer.observe(document.documentElement, {subtree: true, childList: true, attributes: true});
	});
}`

// open loads a page and waits until something in it matches a selector.
func (b *browser) open(url, selector string) error {
	ctx, cancel := context.WithTimeout(b.tab, patience)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate(url), chromedp.WaitReady(chromedp.CSS(selector))); err != nil {
		return fmt.Errorf("load %s: %w", url, err)
	}
	return b.run(watcher)
}

// expect begins to watch for something that matches a selector.
func (b *browser) expect(selector string) error {
	return b.run(fmt.Sprintf("benchWatch(%q)", selector))
}

// run runs a script in the page; what it returns is thrown away.
func (b *browser) run(script string) error {
	if _, err := chromedp.Run(b.tab, chromedp.Evaluate[bool](script+", true")); err != nil {
		return fmt.Errorf("run a script in the page: %w", err)
	}
	return nil
}

// seen returns when what is expected was first there.
func (b *browser) seen() (time.Time, error) {
	ctx, cancel := context.WithTimeout(b.tab, patience)
	defer cancel()
	at, err := chromedp.Run(ctx, chromedp.Evaluate[float64]("benchSeen", chromedp.EvalAwaitPromise))
	if errors.Is(err, context.DeadlineExceeded) && b.tab.Err() == nil {
		return time.Time{}, fmt.Errorf("the page did not show the change within %s", patience)
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("wait for a change of the page: %w", err)
	}
	return time.UnixMicro(int64(at * 1000)), nil
}
