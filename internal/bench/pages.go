package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/chromedp/chromedp"
)

// pageFigures are what pagesScenario measures.
type pageFigures struct {
	paint, paintLarge, weight, script, click, shown *figure
}

// pagesScenario measures what a person notices of pages: how soon they are there,
// how heavy they are, and how soon they answer.
func pagesScenario() *scenario {
	f := pageFigures{
		paint:      &figure{text: "page of a plan of 100 steps, not for the first time: asked for → first paint", unit: "ms", sense: below, bar: 200},
		paintLarge: &figure{text: "the same, 2,000 steps", unit: "ms", sense: below, bar: 1000},
		weight:     &figure{text: "the whole page of 100 steps with styles and scripts, on the wire", unit: "kB", sense: below, bar: 150},
		script:     &figure{text: "scripts of it, on the wire", unit: "kB", sense: below, bar: 40},
		click:      &figure{text: "click on a card → the step is open, 100 steps, p95", unit: "ms", sense: below, bar: 60},
		shown:      &figure{text: "completion posted → card changed, 100 steps, 20 other viewers, p95", unit: "ms", sense: below, bar: 100},
	}
	return &scenario{name: "pages", figures: []*figure{f.paint, f.paintLarge, f.weight, f.script, f.click, f.shown},
		run: func(ctx context.Context, r *round) error { return r.pages(ctx, f) }}
}

func (r *round) pages(ctx context.Context, f pageFigures) error {
	s, err := r.server(ctx, "server")
	if err != nil {
		return err
	}
	dir, err := r.work("pages")
	if err != nil {
		return err
	}
	c := s.client()
	id, err := c.begin(ctx, layered(smallPlan, dir, true), "external")
	if err != nil {
		return err
	}
	page := fmt.Sprintf("%s/plans/%d", s.base, id)
	if err := r.smallPage(ctx, page, f); err != nil {
		return err
	}
	if err := r.watched(ctx, s, int64(id), f.shown); err != nil {
		return err
	}
	if r.sizes.bigGraph == 0 {
		f.paintLarge.absent = "left out of a quick run"
		return nil
	}
	if dir, err = r.work("pages-large"); err != nil {
		return err
	}
	large, err := c.begin(ctx, layered(r.sizes.bigGraph, dir, true), "external")
	if err != nil {
		return err
	}
	seen, err := loadPage(ctx, fmt.Sprintf("%s/plans/%d", s.base, large))
	if err == nil {
		r.add(f.paintLarge, seen.Paint)
	}
	return err
}

// pageLoad is what a browser says about a page that it has loaded for the first
// time.
type pageLoad struct{ Paint, Bytes, Script float64 }

const pageLoadScript = `(async () => {
	let paint;
	while (!(paint = performance.getEntriesByName('first-contentful-paint')[0])) await new Promise(requestAnimationFrame);
	const files = performance.getEntriesByType('resource'), sum = (list) => list.reduce((n, e) => n + e.transferSize, 0);
	return JSON.stringify({Paint: paint.startTime, Bytes: sum(files) + sum(performance.getEntriesByType('navigation')),
		Script: sum(files.filter(e => e.initiatorType === 'script'))});
})()`

// loadPage loads a page in a new browser that has the styles and scripts already.
func loadPage(ctx context.Context, url string) (pageLoad, error) {
	var seen pageLoad
	b, err := openBrowser(ctx)
	if err != nil {
		return seen, err
	}
	defer b.close()
	if err := b.openAgain(url, "#cards a.card"); err != nil {
		return seen, err
	}
	return seen, b.ask(pageLoadScript, &seen)
}

// openAgain loads a page for the second time, when its files are there and the
// browser is awake.
func (b *browser) openAgain(url, selector string) error {
	if err := b.open(url, selector); err != nil {
		return err
	}
	return b.open(url, selector)
}

// ask runs a script that comes to a text of JSON.
func (b *browser) ask(script string, into any) error {
	ctx, cancel := context.WithTimeout(b.tab, patience)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](script, chromedp.EvalAwaitPromise))
	if err != nil {
		return fmt.Errorf("ask the page: %w", err)
	}
	return json.Unmarshal([]byte(text), into)
}

// clicks opens one step after another and returns how long each took, in
// milliseconds.
const clicks = `(async () => {
	const took = [];
	for (const card of [...document.querySelectorAll('#cards a.card')].slice(0, 30)) {
		const node = card.id.slice(2).replace('-', '.'), began = performance.now();
		card.dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true, detail: 1}));
		while (document.getElementById('drawer').dataset.node !== node) await new Promise(r => setTimeout(r, 0));
		took.push(performance.now() - began);
		await new Promise(r => setTimeout(r, 30));
	}
	return JSON.stringify(took);
})()`

func (r *round) smallPage(ctx context.Context, url string, f pageFigures) error {
	b, err := openBrowser(ctx)
	if err != nil {
		return err
	}
	defer b.close()
	if err := b.open(url, "#cards a.card"); err != nil {
		return err
	}
	var seen pageLoad
	if err := b.ask(pageLoadScript, &seen); err != nil {
		return err
	}
	r.add(f.weight, seen.Bytes/1000)
	r.add(f.script, seen.Script/1000)
	if err := b.openAgain(url, "#cards a.card"); err != nil {
		return err
	}
	if err := b.ask(pageLoadScript, &seen); err != nil {
		return err
	}
	r.add(f.paint, seen.Paint)
	var took []float64
	if err := b.ask(clicks, &took); err != nil {
		return err
	}
	r.add(f.click, percentile(took, 95))
	return nil
}

// watched completes steps while a browser and 20 others look on.
func (r *round) watched(ctx context.Context, s *server, id int64, f *figure) error {
	const viewers = 20
	ctx, end := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer end()
	url := fmt.Sprintf("%s/live?topics=plan:%d@0,plans@0", s.base, id)
	for range viewers {
		q, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return fmt.Errorf("follow a page: %w", err)
		}
		answer, err := http.DefaultClient.Do(q)
		if err != nil {
			return fmt.Errorf("follow a page: %w", err)
		}
		all.Go(func() {
			defer answer.Body.Close()
			_, _ = io.Copy(io.Discard, answer.Body) // it ends when nobody looks on any more
		})
	}
	took, err := r.completions(ctx, s, fmt.Sprintf("/plans/%d", id))
	if err == nil {
		r.add(f, percentile(took, 95))
	}
	return err
}

// completions completes steps of the plan that a page shows and returns how long
// each took to show, in milliseconds.
func (r *round) completions(ctx context.Context, s *server, page string) ([]float64, error) {
	b, err := openBrowser(ctx)
	if err != nil {
		return nil, err
	}
	defer b.close()
	if err := b.open(s.base+page, "#cards a.card"); err != nil {
		return nil, err
	}
	c := s.client()
	var took []float64
	for i := range r.sizes.changes {
		d, err := watchCard(ctx, c, b)
		if err != nil {
			return nil, fmt.Errorf("change %d: %w", i+1, err)
		}
		took = append(took, millis(d))
		if err := pause(ctx, gapAfter(i)); err != nil {
			return nil, err
		}
	}
	return took, nil
}
