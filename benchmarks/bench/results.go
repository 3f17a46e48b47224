package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// result is what one implementation had in one benchmark: for each unit all measurements, in the units of benchfmt (sec/op in
// place of ns/op).
type result struct {
	bench string // such as Members/size=5000
	impl  string
	units map[string][]float64
}

// readResults reads a file in the format of Go's benchmarks. Results come in the order in which they first appear.
func readResults(path string) ([]result, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var results []result
	at := map[[2]string]int{}
	r := benchfmt.NewReader(f, path)
	for r.Scan() {
		switch line := r.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, line
		case *benchfmt.Result:
			bench, impl, err := splitName(string(line.Name))
			if err != nil {
				return nil, err
			}
			i, seen := at[[2]string{bench, impl}]
			if !seen {
				i = len(results)
				at[[2]string{bench, impl}] = i
				results = append(results, result{bench, impl, map[string][]float64{}})
			}
			for _, v := range line.Values {
				results[i].units[v.Unit] = append(results[i].units[v.Unit], v.Value)
			}
		}
	}
	return results, r.Err()
}

// splitName takes "Members/size=10/impl=rueidisx-2" apart.
func splitName(name string) (bench, impl string, err error) {
	bench, impl, found := strings.Cut(name, "/impl=")
	if !found {
		return "", "", fmt.Errorf("benchmark %q names no implementation", name)
	}
	if i := strings.LastIndexByte(impl, '-'); i > 0 {
		if _, err := strconv.Atoi(impl[i+1:]); err == nil {
			impl = impl[:i]
		}
	}
	return bench, impl, nil
}

// median returns the median of a unit, and whether there is one.
func (r result) median(unit string) (float64, bool) {
	v := slices.Sorted(slices.Values(r.units[unit]))
	if len(v) == 0 {
		return 0, false
	}
	if len(v)%2 == 1 {
		return v[len(v)/2], true
	}
	return (v[len(v)/2-1] + v[len(v)/2]) / 2, true
}

// label returns the value of a part of the benchmark's name, such as 5000 of size=5000.
func (r result) label(name string) (string, bool) {
	for part := range strings.SplitSeq(r.bench, "/") {
		if key, value, found := strings.Cut(part, "="); found && key == name {
			return value, true
		}
	}
	return "", false
}

// number is label as a number.
func (r result) number(name string) (float64, bool) {
	text, found := r.label(name)
	n, err := strconv.ParseFloat(text, 64)
	return n, found && err == nil
}

// find returns the median of a unit of an implementation in a benchmark.
func find(results []result, bench, impl, unit string) (float64, bool) {
	for _, r := range results {
		if r.bench == bench && r.impl == impl {
			return r.median(unit)
		}
	}
	return 0, false
}

// inOrder returns what of returns for each result, each once, in order.
func inOrder(results []result, of func(result) string) []string {
	var out []string
	for _, r := range results {
		if v := of(r); !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}
