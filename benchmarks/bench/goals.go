package main

import (
	"fmt"
	"strings"
)

// goal is a measurement of ours that shall be at most so many times another's or, without another, at most that.
type goal struct {
	bench      string
	ours, than string
	unit       string
	most       float64
}

// goals of the parts, by their numbers.
func goals(number int) []goal {
	var gs []goal
	switch number {
	case 1:
		for _, kind := range []string{"Single", "Pipeline"} {
			for _, size := range []int{1, 1 << 10, 1 << 20} {
				bench := fmt.Sprintf("%s/size=%d", kind, size)
				gs = append(gs, goal{bench, "rueidisx", "rueidis", "sec/op", 1.03}, goal{bench, "rueidisx", "redjet", "sec/op", 1},
					goal{bench, "rueidisx", "redjet-kept", "sec/op", 1})
			}
		}
	case 2:
		for _, ours := range []string{"rueidisx", "rueidisx-stream"} {
			gs = append(gs,
				goal{"SMEMBERS/size=5000", ours, "hiredis", "sec/op", 0.65},
				goal{"SMEMBERS/size=5000", ours, "client.Do", "sec/op", 0.6},
				goal{"SMEMBERS/size=5000", ours, "floor", "sec/op", 1.2},
				goal{"SMEMBERS/size=100000", ours, "hiredis", "sec/op", 0.55},
				goal{"SMEMBERS/size=1000000", ours, "floor", "sec/op", 1.05},
			)
		}
		for _, than := range []string{"rueidiscompat", "go-redis"} {
			gs = append(gs, goal{"SMEMBERS/size=5000", "rueidisx-goredis", than, "sec/op", 0.75})
		}
	case 3:
		for _, ours := range []string{"pages", "snapshot"} {
			for _, v := range []struct {
				files int
				most  float64
			}{{100, 0.6}, {4000, 0.6}, {200_000, 0.8}, {300_000, 0.8}} {
				gs = append(gs, goal{fmt.Sprintf("Readdir/files=%d", v.files), ours, "juicefs", "sec/op", v.most})
			}
			gs = append(gs, goal{"Readdir/files=200000", ours, "giant", "ping-max-sec", 0.2})
		}
		gs = append(gs,
			goal{"Readdir/files=5000000", "pages", "", "peakheap-B", 192 << 20},
			goal{"Readdir/files=5000000", "snapshot", "", "peakheap-B", 64 << 20},
			goal{"Readdir/files=5000000", "pages", "", "first-sec/op", 0.1},
		)
	}
	return gs
}

// goalTable says which goals are reached; "" if there is none.
func goalTable(number int, results []result) string {
	var b strings.Builder
	for _, g := range goals(number) {
		ours, ok := find(results, g.bench, g.ours, g.unit)
		than, okay := find(results, g.bench, g.than, g.unit)
		if !ok || g.than != "" && (!okay || than == 0) {
			continue
		}
		value, most := format(g.unit, ours), format(g.unit, g.most)
		if g.than != "" {
			ours /= than
			value, most = fmt.Sprintf("%.2f", ours), fmt.Sprintf("%.2f", g.most)
		}
		verdict := "reached"
		if ours > g.most {
			verdict = "**not reached**"
		}
		if b.Len() == 0 {
			b.WriteString("| benchmark | what | ours | beside | is | at most | |\n|---|---|---|---|---:|---:|---|\n")
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", g.bench, titleOf(g.unit), g.ours, g.than, value, most, verdict)
	}
	return b.String()
}

// titleOf returns what a unit measures.
func titleOf(unit string) string {
	for _, s := range shown {
		if s.unit == unit {
			return s.title
		}
	}
	return unit
}
