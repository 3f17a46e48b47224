package main

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"
)

// shown are the units of the tables for people, in this order, with their titles.
var shown = []struct{ unit, title string }{
	{"sec/op", "time"},
	{"sec/element", "time per element"},
	{"first-sec/op", "time to the first entry"},
	{"B/op", "memory allocated"},
	{"allocs/op", "allocations"},
	{"peakheap-B", "peak heap"},
	{"rss-B", "peak of the whole process (RSS)"},
	{"servercmd-sec/op", "the server's time in commands"},
	{"servercpu-sec/op", "the server's processor time, all in all"},
	{"ping-p50-sec", "a bystander's PING, median"},
	{"ping-p99-sec", "a bystander's PING, 99th percentile"},
	{"ping-max-sec", "a bystander's PING, worst"},
}

// writeSummary writes tables of medians: a row for each benchmark, a column for each implementation.
func writeSummary(path string, p part, results []result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Part %d: %s\n\nMedians. The raw measurements and the versions are in %s.txt, the spread and its significance in %s.benchstat.txt.\n", p.number, p.title, p.name, p.name)
	if goals := goalTable(p.number, results); goals != "" {
		b.WriteString("\n## Goals\n\n" + goals)
	}
	for _, s := range shown {
		b.WriteString(table(results, s.unit, s.title))
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

// table is one unit as Markdown; "" if nothing has the unit.
func table(results []result, unit, title string) string {
	results = slices.DeleteFunc(slices.Clone(results), func(r result) bool { return len(r.units[unit]) == 0 })
	if len(results) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s\n", strings.ToUpper(title[:1])+title[1:])
	impls := inOrder(results, func(r result) string { return r.impl })
	fmt.Fprintf(&b, "\n| | %s |\n|---|%s\n", strings.Join(impls, " | "), strings.Repeat("---:|", len(impls)))
	for _, bench := range inOrder(results, func(r result) string { return r.bench }) {
		fmt.Fprintf(&b, "| %s |", bench)
		for _, impl := range impls {
			text := "–"
			if v, ok := find(results, bench, impl, unit); ok {
				text = format(unit, v)
			}
			fmt.Fprintf(&b, " %s |", text)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// format writes a value for people.
func format(unit string, v float64) string {
	switch {
	case strings.Contains(unit, "sec"):
		d := time.Duration(v * float64(time.Second))
		switch {
		case d >= time.Second:
			return digits(v) + " s"
		case d >= time.Millisecond:
			return digits(v*1e3) + " ms"
		case d >= time.Microsecond:
			return digits(v*1e6) + " µs"
		}
		return digits(v*1e9) + " ns"
	case strings.HasPrefix(unit, "B/") || strings.HasSuffix(unit, "-B"):
		switch {
		case v >= 1<<30:
			return digits(v/(1<<30)) + " GiB"
		case v >= 1<<20:
			return digits(v/(1<<20)) + " MiB"
		case v >= 1<<10:
			return digits(v/(1<<10)) + " KiB"
		}
		return digits(v) + " B"
	}
	return thousands(v)
}

// digits gives three of them.
func digits(v float64) string {
	switch {
	case v >= 100 || v == math.Trunc(v):
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

func thousands(v float64) string {
	text := fmt.Sprintf("%.0f", v)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
