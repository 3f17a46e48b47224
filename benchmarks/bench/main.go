package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// part is one of the chapters of the benchmarks.
type part struct {
	number int
	name   string // of its files
	title  string
	run    func(e *env, r *run) error
	plots  func(p *plotting, results []result) error
}

var parts = []part{
	{1, "part1-streaming", "the streaming read of rueidis' pull request 460", streaming, plotStreaming},
	{2, "part2-hiredis", "the benchmark of hiredis: SMEMBERS and the like", collections, plotCollections},
	{3, "part3-readdir", "the Readdir of JuiceFS", readdir, plotReaddir},
	{4, "part4-growth", "how cost grows: elements, goroutines, the network", growth, plotGrowth},
	{5, "part5-memory", "memory of the whole process", memory, plotMemory},
}

type options struct {
	quick   bool
	numbers []int  // of the parts to run
	out     string // directory of the results
	again   bool   // only tables and plots, of results that are there
	rounds  int
	match   *regexp.Regexp // of the benchmarks to run
	more    bool           // results are added to those that are there
}

func main() {
	if child := os.Getenv(childVariable); child != "" {
		if err := runChild(child, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	testing.Init()
	opt, err := parseOptions(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	err = bench(ctx, opt)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func parseOptions(args []string) (options, error) {
	var opt options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.BoolVar(&opt.quick, "quick", false, "each benchmark once, on small data; results go to a temporary directory")
	flags.BoolVar(&opt.again, "again", false, "measure nothing: tables and plots of the results that are there")
	flags.IntVar(&opt.rounds, "rounds", 0, "how often everything is measured, in place of each part's own `number`")
	flags.StringVar(&opt.out, "out", "", "`directory` of the results (default results)")
	flags.BoolVar(&opt.more, "append", false, "add to the results that are there")
	match := flags.String("match", "", "only benchmarks whose names match the `regexp`, such as SMEMBERS/size=5000$")
	list := flags.String("part", "1,2,3,4,5", "the `parts` to run")
	if err := flags.Parse(args); err != nil {
		return opt, err
	}
	if flags.NArg() > 0 {
		return opt, fmt.Errorf("no arguments, but %q", flags.Args())
	}
	var err error
	if opt.match, err = regexp.Compile(*match); err != nil {
		return opt, fmt.Errorf("-match: %w", err)
	}
	for word := range strings.SplitSeq(*list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 1 || n > len(parts) {
			return opt, fmt.Errorf("-part %q: parts are 1 to %d", word, len(parts))
		}
		opt.numbers = append(opt.numbers, n)
	}
	if opt.out == "" && !opt.quick {
		opt.out = "results"
	}
	return opt, nil
}

// flags are those by which somebody gets the results of one part again.
func (o options) flags(p part) []string {
	words := []string{"-part", strconv.Itoa(p.number)}
	if o.quick {
		words = append(words, "-quick")
	}
	if o.rounds > 0 {
		words = append(words, "-rounds", strconv.Itoa(o.rounds))
	}
	if o.match != nil && o.match.String() != "" {
		words = append(words, "-match", "'"+o.match.String()+"'")
	}
	return words
}

// bench runs the parts.
func bench(ctx context.Context, opt options) (err error) {
	if opt.out == "" {
		dir, err := os.MkdirTemp("", "rueidisx-bench-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		opt.out = dir
	}
	if err := os.MkdirAll(opt.out, 0o755); err != nil {
		return err
	}
	if opt.again {
		return writeAll(ctx, opt)
	}
	begin := time.Now()
	return withHost(func(h *host) error {
		e, err := newEnv(ctx, h, opt)
		if err != nil {
			return err
		}
		for _, line := range e.head() {
			fmt.Println(line)
		}
		if err := e.assertAllocations(); err != nil {
			return err
		}
		for _, p := range parts {
			if !slices.Contains(opt.numbers, p.number) {
				continue
			}
			if err := runPart(e, opt, p); err != nil {
				return fmt.Errorf("part %d: %w", p.number, err)
			}
		}
		fmt.Printf("\nEverything that was read was right. It took %v.\n", time.Since(begin).Round(time.Second))
		return nil
	})
}

func runPart(e *env, opt options, p part) (err error) {
	begin := time.Now()
	fmt.Printf("\n== part %d: %s\n", p.number, p.title)
	r, err := newRun(e, opt, p)
	if err != nil {
		return err
	}
	err = p.run(e, r)
	err = cmp.Or(err, e.clear())
	if err = errors.Join(err, r.close()); err != nil {
		return err
	}
	if err := write(e.signal, opt, p); err != nil {
		return err
	}
	fmt.Printf("   %d measurements in %v: %s\n", r.lines, time.Since(begin).Round(100*time.Millisecond), r.path)
	return nil
}

// write makes the tables and plots of a part's results.
func write(ctx context.Context, opt options, p part) error {
	raw := rawPath(opt, p)
	if err := writeBenchstat(ctx, raw); err != nil {
		return err
	}
	results, err := readResults(raw)
	if err != nil {
		return err
	}
	if err := writeSummary(strings.TrimSuffix(raw, ".txt")+".md", p, results); err != nil {
		return err
	}
	return p.plots(&plotting{dir: opt.out, part: p.name}, results)
}

func writeAll(ctx context.Context, opt options) error {
	for _, p := range parts {
		if !slices.Contains(opt.numbers, p.number) {
			continue
		}
		if err := write(ctx, opt, p); err != nil {
			return fmt.Errorf("part %d: %w", p.number, err)
		}
	}
	return nil
}

func rawPath(opt options, p part) string { return filepath.Join(opt.out, p.name+".txt") }
