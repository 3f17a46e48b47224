package main

import (
	"fmt"
	"strings"
)

// goal is a time of ours that shall be at most so many times another's.
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
	case 3:
		for _, ours := range []string{"pages", "snapshot"} {
			for _, than := range []string{"juicefs", "giant"} {
				for _, files := range []int{100, 4000, 200_000, 300_000, 5_000_000} {
					gs = append(gs, goal{fmt.Sprintf("Readdir/files=%d", files), ours, than, "sec/op", 1})
				}
			}
		}
	}
	return gs
}

// goalTable says which goals are reached; "" if there is none.
func goalTable(number int, results []result) string {
	var b strings.Builder
	for _, g := range goals(number) {
		ours, ok := find(results, g.bench, g.ours, g.unit)
		than, okay := find(results, g.bench, g.than, g.unit)
		if !ok || !okay || than == 0 {
			continue
		}
		verdict := "reached"
		if ours/than > g.most {
			verdict = "**not reached**"
		}
		if b.Len() == 0 {
			b.WriteString("| benchmark | ours | than | times its time | at most | |\n|---|---|---|---:|---:|---|\n")
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %.2f | %.2f | %s |\n", g.bench, g.ours, g.than, ours/than, g.most, verdict)
	}
	return b.String()
}
