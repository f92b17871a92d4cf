package main

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"
)

// errSilent is why a request was given up.
var errSilent = errors.New("the endpoint is silent")

// watchdog ends a request when nothing of the reply comes for a while. Comments that
// keep a connection open are not a part of the reply.
type watchdog struct {
	cancel context.CancelCauseFunc
	ctx    context.Context

	mu    sync.Mutex
	timer *time.Timer
	limit time.Duration
}

func watch(ctx context.Context, limit time.Duration) (context.Context, *watchdog) {
	ctx, cancel := context.WithCancelCause(ctx)
	d := &watchdog{cancel: cancel, ctx: ctx, limit: limit}
	d.timer = time.AfterFunc(limit, func() { cancel(errSilent) })
	return ctx, d
}

// feed begins the time anew.
func (d *watchdog) feed() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.timer.Reset(d.limit)
}

// shorten lowers the time to at most limit from now on.
func (d *watchdog) shorten(limit time.Duration) {
	d.mu.Lock()
	d.limit = min(d.limit, limit)
	d.mu.Unlock()
	d.feed()
}

// bitten reports whether the request ended by silence.
func (d *watchdog) bitten() bool { return errors.Is(context.Cause(d.ctx), errSilent) }

func (d *watchdog) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.timer.Stop()
	d.cancel(nil)
}

// transportFault explains why a request or its answer did not get through.
func (c *client) transportFault(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, errSilent) {
		return &fault{retry: true, passing: true, text: fmt.Sprintf("no answer from %s for %v: the model may be loading or overloaded; raise params.timeout if it needs longer", c.endpoint.shown(), c.params.timeout)}
	} else if cause != nil {
		return ctx.Err()
	}
	return connectFault(err, c.endpoint)
}

// connectFault explains a failed connection, for runs and for checks.
func connectFault(err error, e endpoint) *fault {
	var (
		dns     *net.DNSError
		unknown x509.UnknownAuthorityError
		host    x509.HostnameError
		invalid x509.CertificateInvalidError
	)
	at := e.shown()
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return &fault{retry: true, text: fmt.Sprintf("could not connect to %s: nothing listens there. Is the server running, and is base_url right?", at)}
	case errors.As(err, &dns):
		return &fault{retry: dns.IsTemporary, text: fmt.Sprintf("could not connect to %s: the name %s is not known. Is base_url right, and the network up?", at, dns.Name)}
	case errors.As(err, &unknown), errors.As(err, &host), errors.As(err, &invalid):
		return &fault{text: fmt.Sprintf("could not connect to %s: its certificate is not trusted (%v)", at, rootCause(err))}
	case errors.Is(err, http.ErrSchemeMismatch):
		return &fault{text: fmt.Sprintf("could not connect to %s: it does not speak TLS. Should base_url begin with http://?", at)}
	case isCut(err):
		return cutFault(at)
	}
	return &fault{retry: true, text: fmt.Sprintf("could not connect to %s: %v", at, rootCause(err))}
}

// isCut reports whether a connection that stood was closed by the other side.
func isCut(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

func (c *client) cut() *fault { return cutFault(c.endpoint.shown()) }

func cutFault(at string) *fault {
	return &fault{retry: true, passing: true, text: fmt.Sprintf("%s closed the connection in the middle of its answer: the server may have crashed or a proxy may have a limit; params.stream false can help", at)}
}

// rootCause drops the wrapping that repeats method and address.
func rootCause(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
