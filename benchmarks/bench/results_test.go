package main

import (
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const raw = `command: go run ./bench -part 2
server: Redis 7.0.15, a process started for this

BenchmarkSMEMBERS/size=5000/impl=client.Do-2	100	1000000 ns/op	300000 B/op	5000 allocs/op
BenchmarkSMEMBERS/size=5000/impl=rueidisx-2	300	 400000 ns/op	    200 B/op	   6 allocs/op
BenchmarkSMEMBERS/size=5000/impl=client.Do-2	100	1200000 ns/op	300000 B/op	5000 allocs/op
BenchmarkSMEMBERS/size=5000/impl=rueidisx-2	300	 500000 ns/op	    200 B/op	   6 allocs/op
BenchmarkSMEMBERS/size=5000/impl=rueidisx-2	300	 420000 ns/op	    200 B/op	   6 allocs/op
BenchmarkSMEMBERS/size=10/impl=client.Do-2	9000	   30000 ns/op	    700 B/op	  12 allocs/op
BenchmarkSMEMBERS/size=10/impl=redis-rb-2	9000	   50000 ns/op
BenchmarkReaddir/files=100/impl=pages-2	1	 90000 ns/op	 20000 first-ns/op	 2097152 peakheap-B	 30000 ping-max-ns	 12.5 ns/element
`

func results(t *testing.T) []result {
	t.Helper()
	path := filepath.Join(t.TempDir(), "raw.txt")
	if err := os.WriteFile(path, []byte(raw), 0o600); err != nil {
		t.Fatal(err)
	}
	rs, err := readResults(path)
	if err != nil {
		t.Fatal(err)
	}
	return rs
}

func TestReadResults(t *testing.T) {
	rs := results(t)
	for _, row := range []struct {
		bench, impl, unit string
		median            float64
		ok                bool
	}{
		{"SMEMBERS/size=5000", "client.Do", "sec/op", 1.1e-3, true},
		{"SMEMBERS/size=5000", "rueidisx", "sec/op", 420e-6, true},
		{"SMEMBERS/size=5000", "rueidisx", "allocs/op", 6, true},
		{"SMEMBERS/size=10", "redis-rb", "sec/op", 50e-6, true},
		{"SMEMBERS/size=10", "redis-rb", "allocs/op", 0, false},
		{"SMEMBERS/size=10", "rueidisx", "sec/op", 0, false},
		{"Readdir/files=100", "pages", "first-sec/op", 20e-6, true},
		{"Readdir/files=100", "pages", "ping-max-sec", 30e-6, true},
		{"Readdir/files=100", "pages", "peakheap-B", 2 << 20, true},
		{"Readdir/files=100", "pages", "sec/element", 12.5e-9, true},
	} {
		got, ok := find(rs, row.bench, row.impl, row.unit)
		if ok != row.ok || got < row.median*0.999 || got > row.median*1.001 {
			t.Errorf("%s of %s in %s: %v, %v, not %v, %v", row.unit, row.impl, row.bench, got, ok, row.median, row.ok)
		}
	}
	if got := inOrder(rs, func(r result) string { return r.impl }); !slices.Equal(got, []string{"client.Do", "rueidisx", "redis-rb", "pages"}) {
		t.Errorf("implementations %q", got)
	}
	if n, ok := rs[0].number("size"); !ok || n != 5000 {
		t.Errorf("size %v, %v", n, ok)
	}
	if _, ok := rs[0].number("files"); ok {
		t.Error("a number that is not there")
	}
}

func TestReadResultsRefuses(t *testing.T) {
	for _, row := range []struct{ name, text string }{
		{"no implementation", "BenchmarkX/size=1-2 1 1 ns/op\n"},
		{"no benchmark", "BenchmarkX 1 fast\n"},
	} {
		path := filepath.Join(t.TempDir(), "raw.txt")
		if err := os.WriteFile(path, []byte(row.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if rs, err := readResults(path); err == nil {
			t.Errorf("%s: %v", row.name, rs)
		}
	}
	if _, err := readResults(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file that is not there")
	}
}

func TestTable(t *testing.T) {
	rs := results(t)
	want := strings.Join([]string{
		"", "## Time", "",
		"| | client.Do | rueidisx | redis-rb | pages |",
		"|---|---:|---:|---:|---:|",
		"| SMEMBERS/size=5000 | 1.10 ms | 420 µs | – | – |",
		"| SMEMBERS/size=10 | 30 µs | – | 50 µs | – |",
		"| Readdir/files=100 | – | – | – | 90 µs |",
		"",
	}, "\n")
	if got := table(rs, "sec/op", "time"); got != want {
		t.Errorf("%s\nnot\n%s", got, want)
	}
	if got := table(rs, "rss-B", "memory"); got != "" {
		t.Errorf("of a unit that nothing has: %s", got)
	}
}

func TestFormat(t *testing.T) {
	for _, row := range []struct {
		unit string
		v    float64
		want string
	}{
		{"sec/op", 12.5, "12.5 s"},
		{"sec/op", 1, "1 s"},
		{"sec/op", 123.4e-6, "123 µs"},
		{"ping-max-sec", 1.234e-3, "1.23 ms"},
		{"sec/element", 45e-9, "45 ns"},
		{"B/op", 0, "0 B"},
		{"B/op", 1536, "1.50 KiB"},
		{"rss-B", 300 << 20, "300 MiB"},
		{"peakheap-B", 3 << 30, "3 GiB"},
		{"allocs/op", 1234567, "1,234,567"},
		{"allocs/op", 6, "6"},
	} {
		if got := format(row.unit, row.v); got != row.want {
			t.Errorf("%v %s: %q, not %q", row.v, row.unit, got, row.want)
		}
	}
}

func TestGoalTable(t *testing.T) {
	rs := results(t)
	got := goalTable(2, rs)
	if !strings.Contains(got, "| SMEMBERS/size=5000 | time | rueidisx | client.Do | 0.38 | 0.60 | reached |") {
		t.Errorf("%s", got)
	}
	rs[1].units["sec/op"] = []float64{0.9e-3}
	if got := goalTable(2, rs); !strings.Contains(got, "| 0.82 | 0.60 | **not reached** |") {
		t.Errorf("%s", got)
	}
	five := result{"Readdir/files=5000000", "pages", map[string][]float64{"peakheap-B": {300 << 20}, "first-sec/op": {0.02}}}
	got = goalTable(3, []result{five})
	for _, line := range []string{
		"| Readdir/files=5000000 | peak heap | pages |  | 300 MiB | 192 MiB | **not reached** |",
		"| Readdir/files=5000000 | time to the first entry | pages |  | 20 ms | 100 ms | reached |",
	} {
		if !strings.Contains(got, line) {
			t.Errorf("no %q in\n%s", line, got)
		}
	}
	if got := goalTable(4, rs); got != "" {
		t.Errorf("a part without goals: %s", got)
	}
}

func TestSummary(t *testing.T) {
	path := filepath.Join(t.TempDir(), "part.md")
	if err := writeSummary(path, parts[1], results(t)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"# Part 2: ", "part2-hiredis.txt", "## Goals", "## Time\n", "## Allocations\n", "## Time to the first entry\n"} {
		if !strings.Contains(string(text), part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
}

func TestPlots(t *testing.T) {
	dir, rs := t.TempDir(), results(t)
	p := &plotting{dir: dir, part: "x"}
	if err := p.lines("lines", "title", "size", "elements", "sec/op", "seconds", rs); err != nil {
		t.Fatal(err)
	}
	if err := p.bars("bars", "title", "client.Do", "sec/op", rs); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"x-lines", "x-bars"} {
		svg, err := os.ReadFile(filepath.Join(dir, name+".svg"))
		if err != nil || !strings.Contains(string(svg), "rueidisx") {
			t.Errorf("%s.svg: %v, without the name of an implementation", name, err)
		}
		f, err := os.Open(filepath.Join(dir, name+".png"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := png.Decode(f); err != nil {
			t.Errorf("%s.png: %v", name, err)
		}
		_ = f.Close()
	}
	// What nothing was measured of leaves no file.
	if err := p.lines("none", "title", "size", "elements", "rss-B", "bytes", rs); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "x-none.png")); err == nil {
		t.Error("a plot of nothing")
	}
}

func TestPlotsOfParts(t *testing.T) {
	for _, p := range parts {
		dir := t.TempDir()
		if err := p.plots(&plotting{dir: dir, part: p.name}, results(t)); err != nil {
			t.Errorf("part %d: %v", p.number, err)
		}
	}
}
