package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/rueidisx/rueidisx/internal/redistest"
)

// growth is part 4.
func growth(e *env, r *run) error {
	sizes := []int{10, 100, 1000, 10_000, 100_000, 1_000_000, 5_000_000}
	if e.opt.quick {
		sizes = []int{10, 1000, 20_000}
	}
	if err := concurrent(e, r); err != nil {
		return err
	}
	if err := network(e, r); err != nil {
		return err
	}
	for _, kind := range kinds {
		for _, size := range sizes {
			if err := e.grow(r, kind, size); err != nil {
				return err
			}
		}
		if err := e.clear(); err != nil { // the next kind shall not live beside five million elements
			return err
		}
	}
	return nil
}

// grow measures the time and the heap of reading one collection.
func (e *env) grow(r *run, kind string, size int) error {
	if !r.wants(fmt.Sprintf("Growth/do=%s/size=%d", kind, size)) {
		return nil
	}
	r.bar.Describe(fmt.Sprintf("   filling %s %d", kind, size))
	w, err := e.fill(kind, size)
	if err != nil {
		return err
	}
	rounds, times := 5, min(max(50_000/size, 1), 500)
	switch {
	case e.opt.quick:
		times = 1
	case size > 1_000_000:
		rounds = 1
	case size > 100_000:
		rounds = 3
	}
	ops := map[string]func(s *sink, key string) error{}
	for _, p := range e.peers() {
		ops[p.name] = p.all[kind]
	}
	return r.samples(e, fmt.Sprintf("Growth/do=%s/size=%d", kind, size), rounds, []string{"client.Do", "go-redis", "rueidisx"}, func(name string) sample {
		return sample{times: times, want: w, perUnit: size, op: func(s *sink, _ func()) error { return ops[name](s, key(kind, size)) }}
	})
}

// concurrent reads small sets by many goroutines.
func concurrent(e *env, r *run) error {
	counts := []int{1, 4, 16, 64, 256}
	if e.opt.quick {
		counts = []int{1, 16}
	}
	for _, size := range []int{10, 100} {
		w, err := e.fill(smembers, size)
		if err != nil {
			return err
		}
		for _, n := range counts {
			c := cell{name: fmt.Sprintf("Concurrent/size=%d/goroutines=%d", size, n), want: w, goroutines: n, rounds: 6, time: 60 * time.Millisecond}
			for _, p := range e.peers() {
				if im, ok := p.read(smembers, key(smembers, size)); ok {
					c.impls = append(c.impls, im)
				}
			}
			if err := r.do(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// network reads sets through a proxy that is slow. Its latency is added to each piece of a reply that it forwards.
func network(e *env, r *run) error {
	mark := len(e.host.cleanups)
	defer func() { e.host.until(mark) }()
	proxy := redistest.NewProxy(e.host, e.addr)
	far := *e
	var err error
	if far.clients, err = newClients(proxy.Addr()); err != nil {
		return err
	}
	e.host.Cleanup(far.clients.close)
	latencies := []time.Duration{0, time.Millisecond, 10 * time.Millisecond}
	big := 100_000
	if e.opt.quick {
		latencies, big = latencies[:2], 1000
	}
	for _, latency := range latencies {
		proxy.Set(redistest.Fault{Latency: latency})
		for _, size := range []int{10, 5000} {
			if err := far.through(r, fmt.Sprintf("Network/latency=%v/size=%d", latency, size), size); err != nil {
				return err
			}
		}
	}
	proxy.Set(redistest.Fault{Bandwidth: 100_000_000 / 8})
	return far.through(r, fmt.Sprintf("Network/bandwidth=100Mbit/size=%d", big), big)
}

// through measures a set through the proxy: the time, and that to the first element.
func (e *env) through(r *run, name string, size int) error {
	w, err := e.fill(smembers, size)
	if err != nil {
		return err
	}
	ops := map[string]func(s *sink, key string) error{}
	var names []string
	for _, p := range e.peers() {
		if ops[p.name] = p.all[smembers]; ops[p.name] != nil {
			names = append(names, p.name)
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "rueidisx-stream" && size < 100 })
	return r.samples(e, name, 5, names, func(name string) sample {
		return sample{times: 1, want: w, op: func(s *sink, _ func()) error { return ops[name](s, key(smembers, size)) }}
	})
}
