package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"
)

// config is what the flags and the environment say.
type config struct {
	redisURL  string    // empty: start a server
	miniredis bool      // do not look for a redis-server
	sizes     sizes     // zero sizes are chosen by the server
	quick     bool      // a tenth of the sizes that are chosen
	progress  io.Writer // for progress bars; nil if there is no terminal
}

func main() {
	if os.Getenv(childVariable) != "" {
		if err := serveMiniredis(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "miniredis:", err)
			os.Exit(1)
		}
		return
	}
	cfg := config{redisURL: os.Getenv("REDIS_URL")}
	flag.BoolVar(&cfg.miniredis, "miniredis", false, "use miniredis even if REDIS_URL is set or a redis-server is in PATH")
	flag.BoolVar(&cfg.quick, "quick", false, "a tenth of the data")
	flag.IntVar(&cfg.sizes.value, "value", 0, "`MiB` of the string (default 64, of miniredis 32)")
	flag.IntVar(&cfg.sizes.members, "members", 0, "`number` of members of the set (default 1,000,000)")
	flag.IntVar(&cfg.sizes.fields, "fields", 0, "`number` of fields of the hash (default 100,000, of miniredis 50,000)")
	flag.Parse()
	if s := cfg.sizes; flag.NArg() > 0 || min(s.value, s.members, s.fields) < 0 || max(s.value, 1) > maxValue {
		fmt.Fprintf(os.Stderr, "demo: no arguments, no negative sizes, and no value above %d MiB\n", maxValue)
		flag.Usage()
		os.Exit(2)
	}
	if term.IsTerminal(int(os.Stderr.Fd())) && os.Getenv("TERM") != "dumb" {
		cfg.progress = os.Stderr
	}

	// Whoever stops the demo, by `demo | head` too, shall not leave a server behind.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the demo at once
	err := run(ctx, cfg, os.Stdout)
	interrupted := ctx.Err() != nil
	stop()
	switch {
	case err == nil:
	case interrupted:
		fmt.Fprintln(os.Stderr, "demo: interrupted:", err)
		os.Exit(130)
	default:
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// run is the whole demo. Its error is the first thing that was wrong.
func run(ctx context.Context, cfg config, w io.Writer) (err error) {
	begin := time.Now()
	out := &printer{w: w}
	out.line("rueidisx: big Redis replies in constant memory\n")

	srv, err := pickServer(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, srv.stop()) }()
	out.line("server  %s", srv.name)

	d := newData(srv, cfg)
	defer func() { err = errors.Join(err, d.remove()) }()
	if err := d.fill(ctx, cfg.progress, out); err != nil {
		return err
	}
	results, err := d.runSteps(ctx, out)
	if err != nil {
		return err
	}
	out.table(results)
	out.line("\nEvery result was checked and is right. The whole run took %.1f s.", time.Since(begin).Seconds())
	return out.err
}
