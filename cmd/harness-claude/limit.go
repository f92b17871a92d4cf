package main

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// longestLimit bounds how long a limit can make a plan wait: a month, as there are
// monthly ones.
const longestLimit = 31 * 24 * time.Hour

// resetFrom reads from an answer's headers when a limit ends, zero when they do not say.
func resetFrom(h http.Header, now time.Time) time.Time {
	if n, err := strconv.ParseInt(h.Get("Anthropic-Ratelimit-Unified-Reset"), 10, 64); err == nil {
		return sane(time.Unix(n, 0), now)
	}
	if v := h.Get("Retry-After"); v != "" {
		if s, err := strconv.ParseFloat(v, 64); err == nil && s >= 0 && s < longestLimit.Seconds() {
			return now.Add(time.Duration(s * float64(time.Second)))
		}
		if at, err := http.ParseTime(v); err == nil {
			return sane(at, now)
		}
	}
	var last time.Time
	for _, what := range []string{"Requests", "Tokens", "Input-Tokens", "Output-Tokens"} {
		at, err := time.Parse(time.RFC3339, h.Get("Anthropic-Ratelimit-"+what+"-Reset"))
		if err == nil && h.Get("Anthropic-Ratelimit-"+what+"-Remaining") == "0" && at.After(last) {
			last = at
		}
	}
	return sane(last, now)
}

// sane drops a moment that cannot be the end of a limit.
func sane(at, now time.Time) time.Time {
	if at.Before(now.Add(-time.Minute)) || at.After(now.Add(longestLimit)) {
		return time.Time{}
	}
	return at
}

var (
	afterBar   = regexp.MustCompile(`\|(\d{10})(?:\d{3})?\b`)
	afterSpan  = regexp.MustCompile(`(?i)(?:resets|again|retry|renews|available) in ((?:\d+ ?(?:days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)\b(?:,? and |, ?| )?)+)`)
	spanPart   = regexp.MustCompile(`(?i)(\d+) ?(d|h|m|s)`)
	atMoment   = regexp.MustCompile(`(?i)resets?(?: at| on)? (?:([a-z]{3,9})\.? (\d{1,2})(?:,? (20\d\d))?(?:,? at|,)? )?(\d{1,2})(?::(\d{2}))? ?(am|pm)?(?: ?\(([A-Za-z0-9_+/-]+)\))?`)
	stampGiven = regexp.MustCompile(`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)`)
)

// resetIn finds in what the program says when a limit ends: a Unix time behind a bar,
// a span ("resets in 2h 5m"), or a moment ("resets 3:30pm (Europe/Berlin)", "resets
// Dec 4, 1pm (UTC)"). Zero when it does not say.
func resetIn(text string, now time.Time) time.Time {
	text = strings.Join(strings.Fields(text), " ")
	if m := afterBar.FindStringSubmatch(text); m != nil {
		n, _ := strconv.ParseInt(m[1], 10, 64) // ten digits
		return sane(time.Unix(n, 0), now)
	}
	if s := stampGiven.FindString(text); s != "" {
		if at, err := time.Parse(time.RFC3339, s); err == nil {
			return sane(at, now)
		}
	}
	if m := afterSpan.FindStringSubmatch(text); m != nil {
		return sane(now.Add(span(m[1])), now)
	}
	if m := atMoment.FindStringSubmatch(text); m != nil {
		return sane(moment(m, now), now)
	}
	return time.Time{}
}

func span(text string) time.Duration {
	unit := map[string]time.Duration{"d": 24 * time.Hour, "h": time.Hour, "m": time.Minute, "s": time.Second}
	var sum time.Duration
	for _, m := range spanPart.FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil || n > 1e6 {
			return 2 * longestLimit
		}
		sum += time.Duration(n) * unit[strings.ToLower(m[2])]
	}
	return sum
}

// moment reads the groups of atMoment. Without a date the next such time of day is
// meant, without a year the next such date.
func moment(m []string, now time.Time) time.Time {
	zone := time.Local
	if z, err := time.LoadLocation(m[7]); m[7] != "" && err == nil {
		zone = z
	}
	now = now.In(zone)
	hour, minute := number(m[4]), number(m[5])
	if pm := strings.EqualFold(m[6], "pm"); m[6] != "" {
		if hour < 1 || hour > 12 {
			return time.Time{}
		}
		if hour %= 12; pm {
			hour += 12
		}
	} else if m[5] == "" { // a number alone is no time of day
		return time.Time{}
	}
	if hour > 23 || minute > 59 {
		return time.Time{}
	}
	if m[1] == "" {
		at := time.Date(now.Year(), now.Month(), now.Day(), hour, minute, 0, 0, zone)
		if at.Before(now.Add(-time.Minute)) {
			at = at.AddDate(0, 0, 1)
		}
		return at
	}
	return dated(m, now, time.Duration(hour)*time.Hour+time.Duration(minute)*time.Minute)
}

func dated(m []string, now time.Time, clock time.Duration) time.Time {
	month, err := time.Parse("Jan", strings.ToUpper(m[1][:1])+strings.ToLower(m[1][1:3]))
	if err != nil {
		return time.Time{}
	}
	year := now.Year()
	if m[3] != "" {
		year = number(m[3])
	}
	at := func() time.Time {
		return time.Date(year, month.Month(), number(m[2]), int(clock/time.Hour), int(clock%time.Hour/time.Minute), 0, 0, now.Location())
	}
	if m[3] == "" && at().Before(now.AddDate(0, -6, 0)) {
		year++
	}
	return at()
}

func number(s string) int {
	n, _ := strconv.Atoi(s) // digits, or nothing for 0
	return n
}
