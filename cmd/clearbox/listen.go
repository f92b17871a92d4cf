package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
	"time"
)

// lasting is a listener that keeps its port when it is closed: connections are
// no longer taken, but the port becomes free only with the TCPListener below. So
// whoever waits for the port of a server that ends finds its database free too.
type lasting struct{ *net.TCPListener }

// Close ends Accept and nothing else.
func (l lasting) Close() error { return l.SetDeadline(time.Unix(1, 0)) }

// listen opens the port, or says who has it.
func listen(o *options) (lasting, error) {
	addr := net.JoinHostPort(o.host, strconv.Itoa(o.port))
	ln, err := net.Listen("tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return lasting{}, fmt.Errorf("port %d is in use by %s: stop that, or choose another --port", o.port, whoHolds(o))
	case err != nil:
		return lasting{}, fmt.Errorf("listen on %s: %w", addr, err)
	}
	return lasting{ln.(*net.TCPListener)}, nil
}

// whoHolds says what answers where the server would.
func whoHolds(o *options) string {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	found, err := probe(ctx, o.dialURL())
	switch {
	case err != nil || found.who == nobody:
		return "another program"
	case found.who == ours:
		return "a Clearbox " + found.version + " that is running already"
	}
	return "another program, which is not Clearbox"
}

// url is where people reach the server that listens on a port.
func (o *options) url(port int) string {
	return "http://" + net.JoinHostPort(o.reachable(), strconv.Itoa(port))
}

// dialURL is where this machine reaches the server.
func (o *options) dialURL() string {
	return "http://" + net.JoinHostPort(dialHost(o.host), strconv.Itoa(o.port))
}

// reachable is the name under which people reach the server.
func (o *options) reachable() string {
	if !isWildcard(o.host) {
		return o.host
	}
	if len(o.allowedHosts) > 0 {
		host, _, err := net.SplitHostPort(o.allowedHosts[0])
		if err != nil {
			host = o.allowedHosts[0]
		}
		return host
	}
	return "127.0.0.1"
}

// dialHost is where this machine reaches what listens on a host.
func dialHost(host string) string {
	switch {
	case host == "::":
		return "::1"
	case isWildcard(host):
		return "127.0.0.1"
	}
	return host
}

func isWildcard(host string) bool { return host == "" || host == "0.0.0.0" || host == "::" }
