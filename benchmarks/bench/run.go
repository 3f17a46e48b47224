package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// impl is one implementation of what a cell measures.
type impl struct {
	name string
	op   func(s *sink) error // does it once
	own  maker               // or, where each goroutine has something of its own, makes op
	far  *foreign            // or this does what it is asked
	ask  string
	most int // rounds, if it takes very long; 0 means all
}

// maker makes the op of one goroutine, and what ends its use.
type maker func() (op func(s *sink) error, stop func())

func (im impl) start() (op func(s *sink) error, stop func()) {
	if im.own != nil {
		return im.own()
	}
	return im.op, func() {}
}

// cell is one benchmark: a thing that several implementations do.
type cell struct {
	name       string // such as Members/size=5000
	impls      []impl
	want       want
	bytes      int64         // for MB/s; 0 for none
	goroutines int           // that do it at the same time; 0 means one, without goroutines
	parallel   bool          // b.RunParallel
	rounds     int           // how often each implementation has its turn
	time       time.Duration // how long one turn lasts, at least
}

// run is the measurements of one part, and the file to which they go.
type run struct {
	signal context.Context
	quick  bool
	match  *regexp.Regexp
	rounds int // 0 means each cell's own
	path   string
	file   *os.File
	w      *bufio.Writer
	bar    *progressbar.ProgressBar
	lines  int
}

func newRun(e *env, opt options, p part) (*run, error) {
	r := &run{signal: e.signal, quick: opt.quick, match: opt.match, rounds: opt.rounds, path: rawPath(opt, p)}
	mode := os.O_CREATE | os.O_WRONLY | os.O_TRUNC
	if opt.more {
		mode = os.O_CREATE | os.O_WRONLY | os.O_APPEND
	}
	var err error
	if r.file, err = os.OpenFile(r.path, mode, 0o644); err != nil {
		return nil, err
	}
	r.w = bufio.NewWriter(r.file)
	fmt.Fprintf(r.w, "command: go run ./bench %s\ndate: %s\n", strings.Join(opt.flags(p), " "), time.Now().UTC().Format(time.DateOnly))
	for _, line := range e.head() {
		fmt.Fprintln(r.w, line)
	}
	fmt.Fprintln(r.w)
	r.bar = progressbar.NewOptions64(-1,
		progressbar.OptionSetWriter(os.Stderr),
		progressbar.OptionSetVisibility(term.IsTerminal(int(os.Stderr.Fd())) && os.Getenv("TERM") != "dumb"),
		progressbar.OptionSetDescription("   part "+fmt.Sprint(p.number)),
		progressbar.OptionSetWidth(30),
		progressbar.OptionShowCount(),
		progressbar.OptionThrottle(50*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)
	return r, nil
}

// expect tells the progress bar how many measurements come.
func (r *run) expect(n int) { r.bar.ChangeMax(n) }

func (r *run) close() error {
	_ = r.bar.Finish()
	return errors.Join(r.w.Flush(), r.file.Close())
}

// wants tells whether somebody asked for the benchmark of that name.
func (r *run) wants(name string) bool { return r.match == nil || r.match.MatchString(name) }

// do measures cells, after checking what each implementation reads.
func (r *run) do(cells ...cell) error {
	cells = slices.DeleteFunc(cells, func(c cell) bool { return !r.wants(c.name) })
	total := 0
	for i := range cells {
		c := &cells[i]
		if r.rounds > 0 {
			c.rounds = r.rounds
		}
		if r.quick {
			c.rounds, c.time = 1, 0
		}
		total += c.rounds * len(c.impls)
	}
	r.expect(r.lines + total)
	for _, c := range cells {
		if err := r.cell(c); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

func (r *run) cell(c cell) error {
	for _, im := range c.impls {
		if err := im.verify(c.want); err != nil {
			return fmt.Errorf("%s: %w", im.name, err)
		}
	}
	for round := range c.rounds {
		for i := range c.impls {
			im := c.impls[(i+round)%len(c.impls)] // none is always behind the same one
			if im.most > 0 && round >= im.most {
				continue
			}
			r.bar.Describe("   " + c.name + " " + im.name)
			result, err := im.measure(c)
			if err != nil {
				return fmt.Errorf("%s: %w", im.name, err)
			}
			if err := r.line(c.name+"/impl="+im.name, result); err != nil {
				return err
			}
		}
	}
	return nil
}

// line writes one measurement.
func (r *run) line(name string, result testing.BenchmarkResult) error {
	text := result.String()
	if result.MemAllocs > 0 || result.MemBytes > 0 || result.Extra == nil {
		text += "\t" + result.MemString()
	}
	return r.text(name, text)
}

func (r *run) text(name, values string) error {
	if err := r.signal.Err(); err != nil {
		return err
	}
	r.lines++
	_ = r.bar.Add(1)
	_, err := fmt.Fprintf(r.w, "Benchmark%s-%d\t%s\n", name, runtime.GOMAXPROCS(0), strings.TrimSpace(values))
	return errors.Join(err, r.w.Flush()) // what was measured is not lost when the rest fails
}

// verify compares what im reads with what it must be.
func (im impl) verify(w want) error {
	s := sink{check: true}
	if im.far != nil {
		answer, err := im.far.do(im.ask, 0)
		if err != nil {
			return err
		}
		s.want = answer.want
		return s.same(w)
	}
	op, stop := im.start()
	defer stop()
	if err := op(&s); err != nil {
		return err
	}
	return s.same(w)
}

// measure is one turn of im.
func (im impl) measure(c cell) (testing.BenchmarkResult, error) {
	if im.far != nil {
		answer, err := im.far.do(im.ask, max(c.time, 1))
		if err != nil {
			return testing.BenchmarkResult{}, err
		}
		if answer.elements != c.want.elements || answer.bytes != c.want.bytes {
			return testing.BenchmarkResult{}, fmt.Errorf("read %d elements of %d bytes", answer.elements, answer.bytes)
		}
		return testing.BenchmarkResult{N: answer.n, T: answer.took, Bytes: c.bytes, Extra: map[string]float64{}}, nil
	}
	if err := benchTime(c.time); err != nil {
		return testing.BenchmarkResult{}, err
	}
	var failed atomic.Pointer[error]
	result := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(c.bytes)
		loop := func(next func() bool) {
			op, stop := im.start()
			defer stop()
			var s sink
			for next() {
				s.want = want{}
				err := op(&s)
				if err == nil {
					err = s.same(c.want)
				}
				if err != nil {
					seen := err // a variable of its own: err would be on the heap each time
					failed.Store(&seen)
					return
				}
			}
		}
		if c.parallel {
			b.RunParallel(func(p *testing.PB) { loop(p.Next) })
			return
		}
		together(c.goroutines, b.N, loop)
	})
	if err := failed.Load(); err != nil {
		return result, *err
	}
	return result, nil
}

// benchTime sets how long testing.Benchmark measures; 0 means once.
func benchTime(d time.Duration) error {
	text := d.String()
	if d == 0 {
		text = "1x"
	}
	return flag.Set("test.benchtime", text)
}
