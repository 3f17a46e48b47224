package main

import (
	"fmt"
	"io"
	"strconv"
	"time"
)

// printer writes lines until one cannot be written.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

// result is two rows of the table: client.Do and what is put in its place.
type result struct {
	what              string
	before, now       string // the calls
	doUsage, nowUsage usage
}

func (p *printer) table(results []result) {
	p.line("")
	p.row("", "", "time, ms", "to first, ms", "heap, MiB", "allocations")
	for _, r := range results {
		p.usage(r.what, r.before, r.doUsage)
		p.usage("", r.now, r.nowUsage)
	}
	p.line("")
	p.line("to first: until the first bytes or the first element could be used. heap: by how much the heap")
	p.line("grew at most, looked at every millisecond; the server is another process and not in it.")
	p.line("mean: of %d times all of it, and %d times left early; there the heap has the buffers of the", wholeLeaves, leaves)
	p.line("connections that were dialled again, where more was unread than WithDrain's 256 KiB.")
}

func (p *printer) usage(what, call string, u usage) {
	p.row(what, call, milliseconds(u.took), milliseconds(u.first), mebibytes(u.heap), thousands(u.allocs))
}

func (p *printer) row(what, call, took, first, heap, allocs string) {
	p.line("%-19s %-15s %9s %12s %9s %11s", what, call, took, first, heap, allocs)
}

// milliseconds is the unit of all durations, so that a column can be read at a glance.
func milliseconds(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 1, 64)
}

// mebibytes is the unit of all sizes, for the same reason.
func mebibytes(bytes uint64) string {
	return strconv.FormatFloat(float64(bytes)/mib, 'f', 2, 64)
}

// thousands writes n with a comma every three digits.
func thousands(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
