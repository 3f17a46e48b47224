package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/schollz/progressbar/v3"
)

func TestParseOptions(t *testing.T) {
	for _, row := range []struct {
		args    string
		numbers []int
		out     string
		ok      bool
	}{
		{"", []int{1, 2, 3, 4, 5}, "results", true},
		{"-part 2", []int{2}, "results", true},
		{"-part 1,3 -out x", []int{1, 3}, "x", true},
		{"-quick", []int{1, 2, 3, 4, 5}, "", true},
		{"-part 0", nil, "", false},
		{"-part 6", nil, "", false},
		{"-part all", nil, "", false},
		{"more", nil, "", false},
	} {
		opt, err := parseOptions(strings.Fields(row.args))
		if (err == nil) != row.ok || err == nil && (!slices.Equal(opt.numbers, row.numbers) || opt.out != row.out) {
			t.Errorf("%q: %+v, %v", row.args, opt, err)
		}
	}
}

func TestSink(t *testing.T) {
	var w want
	w.add("one", "two", "")
	for _, row := range []struct {
		name  string
		check bool
		see   []string
		ok    bool
	}{
		{"in another order", true, []string{"", "two", "one"}, true},
		{"one twice", true, []string{"one", "one", ""}, false},
		{"one twice, unseen", false, []string{"one", "one", ""}, true},
		{"one less", false, []string{"one", "two"}, false},
		{"too long", false, []string{"one", "two", "."}, false},
	} {
		bytes, text := sink{check: row.check}, sink{check: row.check}
		for _, v := range row.see {
			bytes.see([]byte(v))
			text.seeString(v)
		}
		if err := bytes.same(w); (err == nil) != row.ok {
			t.Errorf("%s: %v", row.name, err)
		}
		if err := text.same(w); (err == nil) != row.ok {
			t.Errorf("%s, strings: %v", row.name, err)
		}
	}
	s := sink{check: true}
	_, _ = whole{&s}.Write([]byte("o"))
	_, _ = whole{&s}.Write([]byte("ne"))
	s.written(3)
	s.seeString("two")
	s.seeString("")
	if err := s.same(w); err != nil {
		t.Errorf("in pieces: %v", err)
	}
}

func TestInode(t *testing.T) {
	want := inodeOf(123456)
	b := want.append(nil)
	var got inode
	if len(b) != inodeSize || !got.parse(b) || got != want {
		t.Errorf("%d bytes, %+v, not %+v", len(b), got, want)
	}
	if got.parse(b[1:]) {
		t.Error("attributes that are too short")
	}
	if kind, n := parseDirValue(string(dirValue(1 << 40))); kind != 1 || n != 1<<40 {
		t.Errorf("%d %d", kind, n)
	}
	if kind, n := parseDirValue([]byte("short")); kind != 0 || n != 0 {
		t.Errorf("%d %d", kind, n)
	}
}

func TestParseCost(t *testing.T) {
	c := parseCost("# Commandstats\r\ncmdstat_hgetall:calls=2,usec=100,usec_per_call=50.00\r\ncmdstat_ping:calls=9,usec=900,usec_per_call=1\r\n" +
		"cmdstat_mget:calls=1,usec=11,usec_per_call=11.00,rejected_calls=0\r\nused_cpu_sys:1.5\r\nused_cpu_user:0.25\r\nused_cpu_user_children:7\r\n")
	if c.commands != 111*time.Microsecond || c.process != 1750*time.Millisecond {
		t.Errorf("%+v", c)
	}
}

func TestQuantiles(t *testing.T) {
	var waits []time.Duration
	for i := range 200 {
		waits = append(waits, time.Duration(200-i))
	}
	got := quantiles(waits)
	if got["ping-p50-ns"] != 101 || got["ping-p99-ns"] != 199 || got["ping-max-ns"] != 200 {
		t.Errorf("%v", got)
	}
}

func TestVersion(t *testing.T) {
	for _, row := range []struct{ info, want string }{
		{"redis_version:7.0.15\r\n", "Redis 7.0.15"},
		{"redis_version:7.2.4\r\nvalkey_version:8.1.1\r\n", "Valkey 8.1.1"},
		{"", "a server that does not tell its version"},
	} {
		if got := version(row.info); got != row.want {
			t.Errorf("%q, not %q", got, row.want)
		}
	}
}

func TestTogether(t *testing.T) {
	for _, goroutines := range []int{0, 1, 7} {
		var n, loops atomic.Int64
		together(goroutines, 100, func(next func() bool) {
			loops.Add(1)
			for next() {
				n.Add(1)
			}
		})
		if n.Load() != 100 || loops.Load() != int64(max(goroutines, 1)) {
			t.Errorf("%d goroutines: %d times in %d loops", goroutines, n.Load(), loops.Load())
		}
	}
}

func TestHost(t *testing.T) {
	var done []string
	err := withHost(func(h *host) error {
		h.Cleanup(func() { done = append(done, "first") })
		mark := len(h.cleanups)
		h.Cleanup(func() { done = append(done, "inner") })
		h.until(mark)
		h.Cleanup(func() { done = append(done, "last") })
		h.Fatalf("no %s", "server")
		return errors.New("not reached")
	})
	if err == nil || err.Error() != "no server" {
		t.Errorf("%v", err)
	}
	if !slices.Equal(done, []string{"inner", "last", "first"}) {
		t.Errorf("%q", done)
	}
	if err := withHost(func(*host) error { return nil }); err != nil {
		t.Error(err)
	}
}

// quickRun is a run that measures once, and the file that it writes.
func quickRun(t *testing.T) (*run, string) {
	t.Helper()
	opt := options{quick: true, out: t.TempDir()}
	r, err := newRun(&env{signal: t.Context(), server: "none"}, opt, parts[0])
	if err != nil {
		t.Fatal(err)
	}
	r.bar = progressbar.NewOptions(1, progressbar.OptionSetVisibility(false))
	return r, filepath.Join(opt.out, parts[0].name+".txt")
}

func TestRun(t *testing.T) {
	r, path := quickRun(t)
	var w want
	w.add("v")
	right := func(s *sink) error { s.seeString("v"); return nil }
	stopped := 0
	err := r.do(cell{name: "Some/size=1", want: w, rounds: 5, impls: []impl{
		{name: "a", op: right},
		{name: "b", own: func() (func(s *sink) error, func()) { return right, func() { stopped++ } }},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.close(); err != nil {
		t.Fatal(err)
	}
	rs, err := readResults(path)
	if err != nil || len(rs) != 2 || len(rs[0].units["sec/op"]) != 1 || rs[1].impl != "b" {
		t.Errorf("%+v, %v", rs, err)
	}
	text, _ := os.ReadFile(path)
	if !strings.HasPrefix(string(text), "command: go run ./bench -part 1 -quick\n") || !strings.Contains(string(text), "\nserver: none\n") {
		t.Errorf("the head: %s", text)
	}
	if stopped != 2 { // checked, and measured
		t.Errorf("stopped %d times", stopped)
	}
}

func TestRunSeesWhatIsWrong(t *testing.T) {
	var w want
	w.add("v")
	broken := errors.New("broken")
	calls := 0
	for _, row := range []struct {
		name string
		op   func(s *sink) error
		want string
	}{
		{"an error", func(*sink) error { return broken }, "broken"},
		{"another value", func(s *sink) error { s.seeString("w"); return nil }, "with the sum"},
		{"nothing", func(*sink) error { return nil }, "read 0 elements"},
		{"an error later", func(s *sink) error {
			if calls++; calls > 1 {
				return broken
			}
			s.seeString("v")
			return nil
		}, "broken"},
	} {
		r, _ := quickRun(t)
		err := r.do(cell{name: "Some/size=1", want: w, impls: []impl{{name: "bad", op: row.op}}})
		if err == nil || !strings.Contains(err.Error(), row.want) || !strings.Contains(err.Error(), "Some/size=1: bad") {
			t.Errorf("%s: %v", row.name, err)
		}
		_ = r.close()
	}
}

func TestRunIsInterrupted(t *testing.T) {
	r, _ := quickRun(t)
	defer r.close()
	var cancel context.CancelFunc
	r.signal, cancel = context.WithCancel(t.Context())
	cancel()
	if err := r.text("X", "1 1 ns/op"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestSample(t *testing.T) {
	var w want
	w.add("v")
	result, err := sample{times: 4, want: w, perUnit: 2, op: func(s *sink, first func()) error {
		time.Sleep(time.Millisecond)
		first()
		first()
		s.seeString("v")
		return nil
	}}.take(nil)
	if err != nil || result.N != 4 || result.Extra["first-ns/op"] < 1e6 || result.Extra["ns/element"] < 0.5e6 {
		t.Errorf("%+v, %v", result, err)
	}
	_, err = sample{times: 1, want: w, op: func(*sink, func()) error { return nil }}.take(nil)
	if err == nil {
		t.Error("nothing was read, and that was right")
	}
}

func TestForeignAnswer(t *testing.T) {
	var asked bytes.Buffer
	f := &foreign{name: "x", in: nopCloser{&asked}, out: newReader("3 3000000 2 6 99 1048576\n")}
	a, err := f.do("members k", time.Millisecond)
	if err != nil || a.n != 3 || a.took != 3*time.Millisecond || a.want != (want{2, 6, 99}) || a.peak != 1<<20 {
		t.Errorf("%+v, %v", a, err)
	}
	if asked.String() != "members k 1000000\n" {
		t.Errorf("asked %q", asked.String())
	}
	if _, err := f.do("members k", 0); err == nil {
		t.Error("no answer, no error")
	}
}

func TestMember(t *testing.T) {
	for _, i := range []int{0, 7, 4999, 4_999_999} {
		if m := member(i); len(m) != 16 || m != fmt.Sprintf("member:%09d", i) {
			t.Errorf("%d: %q", i, m)
		}
	}
}
