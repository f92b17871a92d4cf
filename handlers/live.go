package handlers

import (
	"context"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// live keeps open pages up to date. Whatever pages show is a topic; a topic that
// someone follows has a feed, which turns committed changes into pieces of HTML,
// once for all who follow it.
//
// A browser holds one connection for all its tabs. It names its topics, each with
// the number up to which the page has them, and gets what came after: as frames
// that may be applied twice without harm, or as a word that the page has to read
// that part anew. So a connection may be cut at any time, and the numbers of the
// single topics, not the order among them, say where to go on. (That is why there
// is no SSE id: it would be one number for topics that are at different ones.)
type live struct {
	site *site

	mu    sync.Mutex
	feeds map[topic]*feed
}

func newLive(p *site) *live { return &live{site: p, feeds: map[topic]*feed{}} }

// viewer is one connection.
type viewer struct {
	out  chan []byte   // messages to send
	slow chan struct{} // closed when it does not take them
	once sync.Once
}

// mailbox is how many messages a viewer may be behind. One that is further
// behind is disconnected, and comes back where it was.
const mailbox = 256

func newViewer() *viewer {
	return &viewer{out: make(chan []byte, mailbox), slow: make(chan struct{})}
}

func (v *viewer) send(message []byte) {
	select {
	case v.out <- message:
	default:
		v.once.Do(func() { close(v.slow) })
	}
}

// serve is the connection of a browser.
func (l *live) serve(c echo.Context) error {
	wishes, err := parseWishes(c.QueryParam("topics"))
	if err != nil {
		return err
	}
	v := newViewer()
	for _, w := range wishes {
		f := l.join(w, v)
		defer l.leave(f, v)
	}
	out := openStream(c, l.site.pace)
	defer out.end()
	if out.send([]byte(": hello\n\n")) != nil {
		return nil
	}
	l.pump(c.Request().Context(), v, out)
	return nil
}

// pump sends a viewer's messages until either side ends it.
func (l *live) pump(ctx context.Context, v *viewer, out *sseWriter) {
	ping := time.NewTicker(l.site.pace.ping)
	defer ping.Stop()
	for {
		var err error
		select {
		case m := <-v.out:
			err = out.send(m)
		case <-ping.C:
			err = out.send([]byte("event: ping\ndata:\n\n"))
		case <-v.slow:
			return
		case <-ctx.Done():
			return
		case <-l.site.closing.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// join makes v follow a topic, and begins its feed where there is none.
func (l *live) join(w wish, v *viewer) *feed {
	now := l.site.engine.Subscribe(0, -1).Cursor()
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.after > now { // of another database
		v.send(resyncMessage(w.topic, now))
		w.after = now
	}
	f := l.feeds[w.topic]
	if f == nil {
		f = newFeed(l.site, w)
		l.feeds[w.topic] = f
	}
	f.add(v, w.after)
	return f
}

// leave ends what join began; a feed that nobody follows ends.
func (l *live) leave(f *feed, v *viewer) {
	l.mu.Lock()
	last := f.remove(v)
	if last {
		delete(l.feeds, f.topic)
	}
	l.mu.Unlock()
	if last {
		f.end()
	}
}

// rootOf returns the tree that a topic is about, 0 for those about everything.
func (l *live) rootOf(ctx context.Context, t topic) (plan.PlanID, error) {
	if t.plan == 0 {
		return 0, nil
	}
	return l.site.engine.RootOf(ctx, t.plan)
}
