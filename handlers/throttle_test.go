package handlers

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestGuessingAtTheLoginPageIsSlowedDown(t *testing.T) {
	r := authRig(t)
	for i := range freeGuesses {
		if a := logIn(r, fmt.Sprint("wrong ", i), "/"); a.status != http.StatusUnauthorized {
			t.Fatalf("guess %d: %s", i, a)
		}
	}
	for _, token := range []string{"wrong", testToken} { // the right one too: else guessing goes on
		a := logIn(r, token, "/")
		wait, err := strconv.Atoi(a.header.Get("Retry-After"))
		if a.status != http.StatusTooManyRequests || err != nil || wait < 1 || wait > int(guessEvery.Seconds())+1 {
			t.Errorf("%s, retry after %q", a, a.header.Get("Retry-After"))
		}
		if !strings.Contains(string(a.body), "Too many wrong tokens") || a.header.Get("Set-Cookie") != "" {
			t.Errorf("%s", a)
		}
	}
	if a := r.do("GET", "/api/plans", nil, "Authorization: Bearer "+testToken); a.status != http.StatusOK {
		t.Errorf("programs with the token are locked out: %s", a)
	}
	if a := r.do("GET", "/metrics", nil, "Authorization: Bearer "+testToken); !strings.Contains(string(a.body), "clearbox_logins_refused_total 12\n") {
		t.Error("the guesses are not counted")
	}
}

func TestRightTokensCostNothing(t *testing.T) {
	r := authRig(t)
	for i := range 3 * freeGuesses {
		if a := logIn(r, testToken, "/"); a.status != http.StatusSeeOther {
			t.Fatalf("login %d: %s", i, a)
		}
	}
}

// clock is a throttle whose time the test sets.
func clockThrottle() (*throttle, *time.Time) {
	now := time.Unix(1_700_000_000, 0)
	t := newThrottle()
	t.now = func() time.Time { return now }
	return t, &now
}

func TestGuessesComeBackWithTime(t *testing.T) {
	th, now := clockThrottle()
	const from = "192.0.2.7:1234"
	for i := range freeGuesses {
		if wait := th.take(from); wait != 0 {
			t.Fatalf("guess %d waits %s", i, wait)
		}
	}
	if wait := th.take(from); wait != guessEvery {
		t.Errorf("the next one waits %s", wait)
	}
	if wait := th.take("192.0.2.8:1"); wait != 0 {
		t.Errorf("another address waits %s", wait)
	}
	*now = now.Add(guessEvery)
	if wait := th.take(from); wait != 0 {
		t.Errorf("%s later one waits %s", guessEvery, wait)
	}
	if wait := th.take(from); wait != guessEvery {
		t.Errorf("and the one after it %s", wait)
	}
	*now = now.Add(time.Hour)
	for i := range freeGuesses {
		if wait := th.take(from); wait != 0 {
			t.Fatalf("an hour later guess %d waits %s", i, wait)
		}
	}
}

func TestManyAddressesAreNoWayAround(t *testing.T) {
	th, now := clockThrottle()
	granted := 0
	for i := range 10 * maxGuessers {
		if th.take(fmt.Sprintf("10.%d.%d.%d:1", i>>16, i>>8&255, i&255)) == 0 {
			granted++
		}
	}
	if granted > maxGuessers+freeGuesses || granted < maxGuessers {
		t.Errorf("%d guesses were granted", granted)
	}
	if n := len(th.until); n > maxGuessers+1 {
		t.Errorf("%d addresses are remembered", n)
	}
	*now = now.Add(time.Hour)
	if wait := th.take("192.0.2.9:1"); wait != 0 {
		t.Errorf("an hour later a new address waits %s", wait)
	}
	if n := len(th.until); n != 1 {
		t.Errorf("%d addresses are remembered an hour later", n)
	}
}

func TestWhoGuesses(t *testing.T) {
	tests := []struct {
		a, b string
		same bool
	}{
		{"192.0.2.1:1", "192.0.2.1:2", true},
		{"192.0.2.1:1", "192.0.2.2:1", false},
		{"[::ffff:192.0.2.1]:1", "192.0.2.1:9", true},
		{"[2001:db8::1]:1", "[2001:db8::ffff:1]:1", true},
		{"[2001:db8:0:1::1]:1", "[2001:db8:0:2::1]:1", false},
		{"[fe80::1%eth0]:1", "[fe80::2]:1", true},
		{"", "@", true},
	}
	for _, tt := range tests {
		if same := guesserOf(tt.a) == guesserOf(tt.b); same != tt.same {
			t.Errorf("%q and %q: the same %v, want %v", tt.a, tt.b, same, tt.same)
		}
	}
}
