package handlers

import (
	"bytes"
	"os"
	"runtime"
	runtimemetrics "runtime/metrics"
	"strconv"
)

// writeProcess tells what this process uses. What the system does not tell, on
// others than Linux, is left out.
func writeProcess(p *metricsText) {
	p.single("go_goroutines", "gauge", "Goroutines now.", float64(runtime.NumGoroutine()))
	told := []runtimemetrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/total:bytes"}, {Name: "/gc/cycles/total:gc-cycles"}}
	runtimemetrics.Read(told)
	p.single("go_memstats_heap_alloc_bytes", "gauge", "Bytes in objects on the heap.", float64(told[0].Value.Uint64()))
	p.single("go_memstats_sys_bytes", "gauge", "Bytes that the Go runtime has from the system.", float64(told[1].Value.Uint64()))
	p.single("go_gc_cycles_total", "counter", "Garbage collections.", float64(told[2].Value.Uint64()))
	if pages, ok := residentPages(); ok {
		p.single("process_resident_memory_bytes", "gauge", "Memory of this process that is in RAM.", float64(pages*int64(os.Getpagesize())))
	}
	if list, err := os.ReadDir("/proc/self/fd"); err == nil {
		p.single("process_open_fds", "gauge", "Open file descriptors.", float64(len(list)))
	}
}

// residentPages reads the second number of statm.
func residentPages() (int64, bool) {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, false
	}
	fields := bytes.Fields(b)
	if len(fields) < 2 {
		return 0, false
	}
	n, err := strconv.ParseInt(string(fields[1]), 10, 64)
	return n, err == nil
}
