package main

import (
	"net/http"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func TestWhenALimitEnds(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	must(t, err)
	tests := []struct {
		text string
		want time.Time
	}{
		{"You've hit your session limit · resets 1:53pm (UTC)", noon.Add(113 * time.Minute)},
		{"You've hit your session limit · resets 11am (UTC)", noon.Add(23 * time.Hour)},
		{"5-hour limit reached ∙ resets 12am", noon.Add(12 * time.Hour)},
		{"limit · resets at 15:30 (Europe/Berlin)", time.Date(2026, 11, 30, 15, 30, 0, 0, berlin)},
		{"You've hit your weekly limit · resets Dec 4, 1:13pm (UTC)", time.Date(2026, 12, 4, 13, 13, 0, 0, time.UTC)},
		{"weekly limit · resets December 4 at 1pm (UTC)", time.Date(2026, 12, 4, 13, 0, 0, 0, time.UTC)},
		{"limit · resets Dec 4, 2026, 1pm (UTC)", time.Date(2026, 12, 4, 13, 0, 0, 0, time.UTC)},
		{"Claude AI usage limit reached|1796126400", time.Unix(1796126400, 0)},
		{"Claude AI usage limit reached|1796126400000", time.Unix(1796126400, 0)},
		{"limit reached, resets in 2h 5m", noon.Add(125 * time.Minute)},
		{"Please try again in 30 seconds.", noon.Add(30 * time.Second)},
		{"try again in 1 day and 2 hours", noon.Add(26 * time.Hour)},
		{"resets 2026-12-01T08:00:00Z", noon.Add(20 * time.Hour)},
		{"resets 2026-12-01T08:00:00+02:00", noon.Add(18 * time.Hour)},

		{"You've hit your monthly spend limit.", time.Time{}},
		{"resets 13pm", time.Time{}},
		{"resets 25:00", time.Time{}},
		{"resets 3", time.Time{}},
		{"resets Foo 4, 1pm", time.Time{}},
		{"limit reached|1000000000", time.Time{}},
		{"try again in 99999999 days", time.Time{}},
		{"resets Jun 4, 1pm (UTC)", time.Time{}}, // half a year off
		{"", time.Time{}},
	}
	for _, tt := range tests {
		if got := resetIn(tt.text, noon); !got.Equal(tt.want) {
			t.Errorf("%s: %v, want %v", tt.text, got, tt.want)
		}
	}
}

func TestTheTurnOfTheYear(t *testing.T) {
	now := time.Date(2026, 12, 30, 12, 0, 0, 0, time.UTC)
	if got, want := resetIn("resets Jan 2, 9am (UTC)", now), time.Date(2027, 1, 2, 9, 0, 0, 0, time.UTC); !got.Equal(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestLimitsInHeaders(t *testing.T) {
	tests := []struct {
		headers m
		want    time.Time
	}{
		{m{"Retry-After": "90"}, noon.Add(90 * time.Second)},
		{m{"Retry-After": "Mon, 30 Nov 2026 13:00:00 GMT"}, noon.Add(time.Hour)},
		{m{"Retry-After": "soon"}, time.Time{}},
		{m{"Retry-After": "-5"}, time.Time{}},
		{m{"Retry-After": "1e300"}, time.Time{}},
		{m{"Retry-After": "90", "anthropic-ratelimit-unified-reset": "1796126400"}, time.Unix(1796126400, 0)},
		{m{"anthropic-ratelimit-tokens-remaining": "0", "anthropic-ratelimit-tokens-reset": "2026-11-30T12:03:00Z",
			"anthropic-ratelimit-requests-remaining": "5", "anthropic-ratelimit-requests-reset": "2026-11-30T12:09:00Z"}, noon.Add(3 * time.Minute)},
		{nil, time.Time{}},
	}
	for _, tt := range tests {
		h := http.Header{}
		for k, v := range headers(tt.headers) {
			h.Set(k, v)
		}
		if got := resetFrom(h, noon); !got.Equal(tt.want) {
			t.Errorf("%v: %v, want %v", tt.headers, got, tt.want)
		}
	}
}

func FuzzResetIn(f *testing.F) {
	for _, s := range []string{"resets 1:53pm (UTC)", "resets Dec 4, 1pm (Nowhere/City)", "try again in 3h", "x|1796126400", "resets 2026-12-01T08:00:00Z", "resets 0am", "resets Feb 31 12:59 am"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := resetIn(s, noon)
		if !got.IsZero() && (got.Before(noon.Add(-time.Minute)) || got.After(noon.Add(longestLimit))) {
			t.Errorf("%q gives %v", s, got)
		}
	})
}
