package handlers

import (
	"net/netip"
	"sync"
	"time"
)

// How many wrong tokens the login page takes from one address: so many at once,
// then one more each so often.
const (
	freeGuesses = 10
	guessEvery  = 10 * time.Second
	maxGuessers = 4096 // addresses that are remembered
)

// throttle slows down whoever guesses at the login page. It remembers a bounded
// number of addresses; when it cannot remember more, all others share one
// allowance, so that many addresses are no way around it.
//
// Programs that send the token with each request are not slowed down: one with
// an old token would lock out all that share its address, and a token has at
// least 16 characters.
type throttle struct {
	now func() time.Time

	mu    sync.Mutex
	until map[netip.Addr]time.Time // when an address has its whole allowance again
	swept time.Time                // when those that have it were last forgotten
}

func newThrottle() *throttle {
	return &throttle{now: time.Now, until: map[netip.Addr]time.Time{}}
}

// take uses up one guess of an address. It returns how long to wait where there
// is none left, else 0.
func (t *throttle) take(remote string) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	now, from := t.now(), t.slot(guesserOf(remote))
	until := t.until[from]
	if until.Before(now) {
		until = now
	}
	if wait := until.Add(guessEvery).Sub(now) - freeGuesses*guessEvery; wait > 0 {
		return wait
	}
	t.until[from] = until.Add(guessEvery)
	return 0
}

// giveBack returns a guess that was right.
func (t *throttle) giveBack(remote string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	from := t.slot(guesserOf(remote))
	if until, ok := t.until[from]; ok {
		t.until[from] = until.Add(-guessEvery)
	}
}

// slot returns the entry that counts for an address: its own, or the common one
// when there is no room.
func (t *throttle) slot(from netip.Addr) netip.Addr {
	if _, known := t.until[from]; known || len(t.until) < maxGuessers {
		return from
	}
	now := t.now()
	if now.Sub(t.swept) < guessEvery {
		return netip.Addr{} // looking again for each guess would cost more than the guess
	}
	t.swept = now
	for a, until := range t.until {
		if !until.After(now) {
			delete(t.until, a)
		}
	}
	if len(t.until) < maxGuessers {
		return from
	}
	return netip.Addr{}
}

// guesserOf returns whom a guess counts for: an address, and for IPv6 the whole
// network, since one host has many addresses there.
func guesserOf(remote string) netip.Addr {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Addr{}
	}
	addr := at.Addr().Unmap().WithZone("")
	if addr.Is4() {
		return addr
	}
	network, err := addr.Prefix(64)
	if err != nil {
		return netip.Addr{}
	}
	return network.Addr()
}
