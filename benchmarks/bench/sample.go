package main

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/rueidisx/rueidisx/benchmarks/internal/heap"
)

// sample is a measurement of more than time: of something that is done times times.
type sample struct {
	times   int
	op      func(s *sink, first func()) error // calls first when its caller could use the first of what it reads
	want    want
	server  bool // what the server took for it, too
	nearby  *bystander
	perUnit int // elements, for the time of one; 0 means that nobody asks
}

// take takes it. The heap is this process'; the server is another.
func (p sample) take(e *env) (testing.BenchmarkResult, error) {
	var result testing.BenchmarkResult
	var before, after runtime.MemStats
	var cost serverCost
	var err error
	if p.server {
		if cost, err = e.cost(); err != nil {
			return result, err
		}
	}
	watch := heap.Start()
	if err := p.nearby.begin(); err != nil {
		return result, err
	}
	runtime.ReadMemStats(&before)
	var first time.Duration
	begin := time.Now()
	var s sink
	var one time.Time
	seen := false
	note := func() {
		if !seen {
			seen = true
			first += time.Since(one)
		}
	}
	for range p.times {
		s.want, seen, one = want{}, false, time.Now()
		if err = p.op(&s, note); err == nil {
			err = s.same(p.want)
		}
		if err != nil {
			break
		}
	}
	took := time.Since(begin)
	runtime.ReadMemStats(&after)
	peak := watch.Growth()
	pings, perr := p.nearby.end()
	if err == nil {
		err = perr
	}
	if err != nil {
		return result, err
	}
	n := float64(p.times)
	result = testing.BenchmarkResult{
		N: p.times, T: took, MemAllocs: after.Mallocs - before.Mallocs, MemBytes: after.TotalAlloc - before.TotalAlloc,
		Extra: map[string]float64{"peakheap-B": float64(peak)},
	}
	if first > 0 {
		result.Extra["first-ns/op"] = float64(first.Nanoseconds()) / n
	}
	if p.perUnit > 0 {
		result.Extra["ns/element"] = float64(took.Nanoseconds()) / n / float64(p.perUnit)
	}
	if p.server {
		now, err := e.cost()
		if err != nil {
			return result, err
		}
		result.Extra["servercmd-ns/op"] = float64((now.commands - cost.commands).Nanoseconds()) / n
		result.Extra["servercpu-ns/op"] = float64((now.process - cost.process).Nanoseconds()) / n
	}
	for name, d := range pings {
		result.Extra[name] = float64(d.Nanoseconds())
	}
	return result, nil
}

// samples takes a sample of each implementation, round by round.
func (r *run) samples(e *env, name string, rounds int, impls []string, of func(impl string) sample) error {
	if !r.wants(name) {
		return nil
	}
	if r.rounds > 0 {
		rounds = r.rounds
	}
	if r.quick {
		rounds = 1
	}
	r.expect(r.lines + rounds*len(impls))
	for _, im := range impls {
		if rounds == 1 && !r.quick {
			break // it takes so long that number and length have to do; smaller ones were compared byte by byte
		}
		s := sink{check: true}
		p := of(im)
		if err := p.op(&s, func() {}); err != nil {
			return fmt.Errorf("%s: %s: %w", name, im, err)
		}
		if err := s.same(p.want); err != nil {
			return fmt.Errorf("%s: %s: %w", name, im, err)
		}
	}
	for round := range rounds {
		for i := range impls {
			im := impls[(i+round)%len(impls)]
			r.bar.Describe("   " + name + " " + im)
			result, err := of(im).take(e)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", name, im, err)
			}
			if err := r.line(name+"/impl="+im, result); err != nil {
				return err
			}
		}
	}
	return nil
}
