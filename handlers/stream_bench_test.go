package handlers

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// BenchmarkHundredReaders tells what it costs, in time of the processor, to get one
// event to one of a hundred readers, and how late it comes, with 3,000 events a
// second. Half of the cost is the readers' own.
func BenchmarkHundredReaders(b *testing.B) {
	const readers, perTick, tick = 100, 30, 10 * time.Millisecond
	r := newRig(b)
	id := r.claimed()
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	var got, late atomic.Int64
	for range readers {
		res := openReader(ctx, b, r.url)
		all.Go(func() { countLate(res, &got, &late) })
	}
	var before, after syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	b.ResetTimer()
	ticks := time.NewTicker(tick)
	defer ticks.Stop()
	for sent := 0; sent < b.N; {
		<-ticks.C
		var group sync.WaitGroup
		for range min(perTick, b.N-sent) {
			group.Go(func() {
				text := fmt.Sprintf("at=%d %s", time.Now().UnixMicro(), strings.Repeat("looked at the callers ", 8))
				_ = r.engine.Report(context.Background(), plan.Ref{Plan: id, Node: 1}, text, "")
			})
			sent++
		}
		group.Wait()
	}
	for got.Load() < int64(b.N)*readers {
		<-ticks.C
	}
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	spent := after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano()
	b.ReportMetric(float64(spent)/float64(got.Load()), "cpu-ns/delivery")
	b.ReportMetric(float64(late.Load())/float64(got.Load())/1000, "ms-late")
	cancel()
	all.Wait()
}

func openReader(ctx context.Context, b *testing.B, url string) *http.Response {
	req, err := http.NewRequestWithContext(ctx, "GET", url+"/api/stream", nil)
	if err != nil {
		b.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	return res
}

// countLate counts the events that a reader gets, and the microseconds that they
// took.
func countLate(res *http.Response, got, late *atomic.Int64) {
	defer res.Body.Close()
	in := bufio.NewReaderSize(res.Body, 64<<10)
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return
		}
		_, text, found := strings.Cut(string(line), "at=")
		if !found {
			continue
		}
		var at int64
		_, _ = fmt.Sscan(text, &at)
		late.Add(time.Now().UnixMicro() - at)
		got.Add(1)
	}
}
