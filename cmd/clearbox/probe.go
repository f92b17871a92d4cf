package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"
)

// presence is what is found at an address.
type presence int

const (
	nobody   presence = iota
	ours              // a Clearbox
	stranger          // another program, or one that says nothing
)

// sighting is what a probe found.
type sighting struct {
	who     presence
	version string // of ours
}

// A server that ends answers nobody for up to five seconds, and then is gone.
const probeTimeout = 6 * time.Second

// probe asks who answers at a base URL. An error means that it cannot be known,
// for example because the host's name is.
func probe(ctx context.Context, base string) (sighting, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	for tries := 1; ; tries++ {
		found, err := probeOnce(ctx, base)
		switch {
		case !wasCut(err) || ctx.Err() != nil:
			return found, err
		case tries == 5:
			return found, nil // it hangs up on everyone
		}
		select { // it has just ended: look again
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

func probeOnce(ctx context.Context, base string) (sighting, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/api/health", nil)
	if err != nil {
		return sighting{}, err
	}
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true, Proxy: http.ProxyFromEnvironment}}
	r, err := c.Do(q)
	var dns *net.DNSError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return sighting{}, nil
	case wasCut(err) || errors.As(err, &dns):
		return sighting{who: stranger}, err
	case err != nil:
		return sighting{who: stranger}, nil
	}
	defer r.Body.Close()
	var health struct{ App, Version string }
	err = json.NewDecoder(io.LimitReader(r.Body, 4096)).Decode(&health)
	if err != nil || r.StatusCode != http.StatusOK || health.App != "clearbox" {
		return sighting{who: stranger}, nil
	}
	return sighting{ours, health.Version}, nil
}

// wasCut reports whether a connection was made and then ended without an answer.
func wasCut(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// awaitGone waits until nothing listens at a base URL any more.
func awaitGone(ctx context.Context, base string) error {
	u, err := url.Parse(base)
	if err != nil {
		return err
	}
	addr := u.Host
	if u.Port() == "" {
		addr = net.JoinHostPort(u.Hostname(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	}
	var d net.Dialer
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		conn, err := d.DialContext(ctx, "tcp", addr)
		if errors.Is(err, syscall.ECONNREFUSED) {
			return nil
		}
		if err == nil {
			conn.Close()
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return fmt.Errorf("it was told to end, but %s still listens", addr)
		}
	}
}
