package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"testing"
	"time"
)

// memory is part 5: each implementation reads in a process of its own, once.
func memory(e *env, r *run) error {
	value, members, rounds := 256<<20, 5_000_000, 3
	if e.opt.quick {
		value, members, rounds = 1<<20, 10_000, 1
	}
	if r.rounds > 0 {
		rounds = r.rounds
	}
	k, err := e.value(value)
	if err != nil {
		return err
	}
	r.bar.Describe("   filling a set")
	w, err := e.fill(smembers, members)
	if err != nil {
		return err
	}
	for _, job := range []struct {
		name string
		task task
	}{
		{fmt.Sprintf("Memory/do=GET/bytes=%d", value), task{Addr: e.addr, Key: k, Want: e.valueWant(value).plain()}},
		{fmt.Sprintf("Memory/do=SMEMBERS/size=%d", members), task{Addr: e.addr, Kind: smembers, Key: key(smembers, members), Want: w.plain()}},
	} {
		var impls []string
		for _, p := range e.memoryPeers() {
			if _, ok := p.of(job.task.Kind); ok {
				impls = append(impls, p.name)
			}
		}
		r.expect(r.lines + rounds*len(impls) + len(e.foreign))
		for round := range rounds {
			for _, name := range impls {
				r.bar.Describe("   " + job.name + " " + name)
				t := job.task
				t.Impl = name
				result, err := t.start()
				if err != nil {
					return fmt.Errorf("%s: %s: %w", job.name, name, err)
				}
				if err := r.line(job.name+"/impl="+name, result); err != nil {
					return err
				}
			}
			if job.task.Kind == "" || round > 0 {
				continue
			}
			if err := e.foreignMemory(r, job.name, "members "+job.task.Key, w); err != nil {
				return err
			}
		}
	}
	return nil
}

// foreignMemory measures the peers that are not written in Go, in processes that have done nothing before.
func (e *env) foreignMemory(r *run, name, ask string, w want) error {
	mark := len(e.host.cleanups)
	defer func() { e.host.until(mark) }()
	old := e.foreign
	e.foreign, e.notes = nil, nil
	e.startForeign()
	fresh := e.foreign
	e.foreign = old
	for _, f := range fresh {
		if f.name == "redis-rb" && !r.quick {
			continue // it takes minutes, and holds what it holds with hiredis
		}
		a, err := f.do(ask, 1)
		if err != nil {
			return err
		}
		if a.elements != w.elements || a.bytes != w.bytes {
			return fmt.Errorf("%s read %d elements", f.name, a.elements)
		}
		result := testing.BenchmarkResult{N: 1, T: a.took, Extra: map[string]float64{"rss-B": float64(a.peak)}}
		if err := r.line(name+"/impl="+f.name, result); err != nil {
			return err
		}
	}
	return nil
}

// memoryPeers are the peers, and rueidis' own streaming.
func (e *env) memoryPeers() []peer {
	return append(e.peers(), peer{name: "DoStream", value: func(s *sink, key string) error {
		stream := e.rueidis.DoStream(e.ctx, e.rueidis.B().Get().Key(key).Build())
		n, err := stream.WriteTo(whole{s})
		s.written(n)
		return err
	}})
}

// of returns how p reads a collection, or a string if kind is empty.
func (p peer) of(kind string) (func(s *sink, key string) error, bool) {
	do := p.value
	if kind != "" {
		do = p.all[kind]
	}
	return do, do != nil
}

// task is what a child does.
type task struct {
	Addr, Kind, Key, Impl string
	Want                  plainWant
}

// plainWant is a want for JSON.
type plainWant struct {
	Elements, Bytes int64
	Sum             uint64
}

func (w want) plain() plainWant { return plainWant{w.elements, w.bytes, w.sum} }

// outcome is what a child answers.
type outcome struct {
	Took                  time.Duration
	Heap, Allocs, Written uint64
	RSS                   int64
}

// start does the task in a child.
func (t task) start() (testing.BenchmarkResult, error) {
	var result testing.BenchmarkResult
	cmd, err := self("memory")
	if err != nil {
		return result, err
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return result, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return result, err
	}
	if err := cmd.Start(); err != nil {
		return result, err
	}
	var o outcome
	err = json.NewEncoder(in).Encode(t)
	if err == nil {
		err = json.NewDecoder(out).Decode(&o)
	}
	if ended := cmd.Wait(); err != nil {
		return result, fmt.Errorf("%w (%w)", err, ended)
	}
	return testing.BenchmarkResult{
		N: 1, T: o.Took, MemAllocs: o.Allocs, MemBytes: o.Written,
		Extra: map[string]float64{"peakheap-B": float64(o.Heap), "rss-B": float64(o.RSS)},
	}, nil
}

// measureMemory is what the child does.
func measureMemory(in io.Reader, out io.Writer) error {
	var t task
	if err := json.NewDecoder(in).Decode(&t); err != nil {
		return err
	}
	e := &env{ctx: context.Background(), addr: t.Addr}
	var err error
	if e.clients, err = newClients(t.Addr); err != nil {
		return err
	}
	defer e.clients.close()
	for _, p := range e.memoryPeers() {
		do, ok := p.of(t.Kind)
		if p.name != t.Impl || !ok {
			continue
		}
		w := want{t.Want.Elements, t.Want.Bytes, t.Want.Sum}
		result, err := sample{times: 1, want: w, op: func(s *sink, _ func()) error { return do(s, t.Key) }}.take(e)
		if err != nil {
			return err
		}
		return json.NewEncoder(out).Encode(outcome{
			Took: result.T, Heap: uint64(result.Extra["peakheap-B"]), Allocs: result.MemAllocs, Written: result.MemBytes, RSS: peakRSS(),
		})
	}
	return fmt.Errorf("no implementation %q of %q", t.Impl, t.Kind)
}
