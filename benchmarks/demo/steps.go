package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/rueidisstream"
)

// step is one thing that the demo shows, done with client.Do and with what is put in its place.
type step struct {
	title       string
	what        string // in the table
	before, now string // the lines of code
	do, stream  way
	after       func(ctx context.Context) error // checks what both ways left behind; may be nil
	checked     string                          // what is proven when all of them succeed
}

// way is a way to do a step. Its call is what the table says; run does it, times times, and checks the result.
type way struct {
	call  string
	times int
	run   func(ctx context.Context, m *meter) error
}

// steps returns what the demo shows, in order.
func (d *data) steps() []step {
	return []step{d.copyValue(), d.eachMember(), d.eachField(), d.leaveEarly(), d.pipeline()}
}

// runSteps runs and prints all steps. Its error says which step went wrong.
func (d *data) runSteps(ctx context.Context, out *printer) ([]result, error) {
	if err := d.echo(ctx, 1); err != nil { // so that no step has to dial first
		return nil, err
	}
	var results []result
	for i, s := range d.steps() {
		out.line("\n%d. %s\n   client.Do:      %s\n   rueidisstream:  %s", i+1, s.title, s.before, s.now)
		r, err := s.runBoth(ctx)
		if err != nil {
			return nil, fmt.Errorf("step %d, %s: %w", i+1, s.title, err)
		}
		out.line("   checked:        %s", s.checked)
		if out.err != nil {
			return nil, out.err
		}
		results = append(results, r)
	}
	return results, nil
}

func (s step) runBoth(ctx context.Context) (result, error) {
	r := result{what: s.what, before: s.do.call, now: s.stream.call}
	var err error
	if r.doUsage, err = s.do.measure(ctx); err != nil {
		return r, err
	}
	if r.nowUsage, err = s.stream.measure(ctx); err != nil {
		return r, err
	}
	if s.after != nil {
		return r, s.after(ctx)
	}
	return r, nil
}

func (w way) measure(ctx context.Context) (usage, error) {
	u, err := measure(w.times, func(m *meter) error { return w.run(ctx, m) })
	if err != nil {
		return u, fmt.Errorf("by %s: %w", w.call, err)
	}
	return u, nil
}

// echo sends n ECHOs over the client's shared connection and n over the connections that streams use. A connection that
// still had bytes of another reply on it would answer with those.
func (d *data) echo(ctx context.Context, n int) error {
	for i := range n {
		want := "echo " + strconv.Itoa(i)
		shared, err := d.client.Do(ctx, d.client.B().Echo().Message(want).Build()).ToString()
		if err != nil {
			return fmt.Errorf("ECHO by client.Do: %w", err)
		}
		var own strings.Builder
		if _, err := rueidisstream.Copy(ctx, d.client, d.client.B().Echo().Message(want).Build(), &own); err != nil {
			return fmt.Errorf("ECHO by rueidisstream.Copy: %w", err)
		}
		if shared != want || own.String() != want {
			return fmt.Errorf("ECHO %q was answered %.40q to client.Do and %.40q to rueidisstream.Copy", want, shared, own.String())
		}
	}
	return nil
}

func (d *data) get(key string) rueidis.Completed { return d.client.B().Get().Key(key).Build() }

func (d *data) smembers() rueidis.Completed { return d.client.B().Smembers().Key(d.set).Build() }

func (d *data) hgetall() rueidis.Completed { return d.client.B().Hgetall().Key(d.hash).Build() }
