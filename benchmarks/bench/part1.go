package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/coder/redjet"
	"github.com/gomodule/redigo/redis"
	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/rueidisstream"
)

// pipelined is how many commands a pipeline has.
const pipelined = 20

// streaming is part 1: strings of three sizes to an io.Writer, by as many goroutines as there are processors.
func streaming(e *env, r *run) error {
	var cells []cell
	for _, size := range []int{1, 1 << 10, 1 << 20} {
		k, err := e.value(size)
		if err != nil {
			return err
		}
		one := e.valueWant(size)
		many := want{elements: pipelined, bytes: pipelined * one.bytes, sum: pipelined * one.sum}
		cells = append(cells,
			cell{name: fmt.Sprintf("Single/size=%d", size), impls: e.singles(k), want: one, bytes: one.bytes, parallel: true, rounds: 10, time: 100 * time.Millisecond},
			cell{name: fmt.Sprintf("Pipeline/size=%d", size), impls: e.pipelines(k), want: many, bytes: many.bytes, parallel: true, rounds: 10, time: 100 * time.Millisecond},
		)
	}
	return r.do(cells...)
}

// singles read one string.
func (e *env) singles(key string) []impl {
	get := func() rueidis.Completed { return e.rueidis.B().Get().Key(key).Build() }
	impls := []impl{
		{name: "rueidis", op: func(s *sink) error {
			stream := e.rueidis.DoStream(e.ctx, get())
			n, err := stream.WriteTo(s.writer())
			s.written(n)
			return err
		}},
		{name: "rueidisx", op: func(s *sink) error {
			n, err := rueidisstream.Copy(e.ctx, e.rueidis, get(), s.writer())
			s.written(n)
			return err
		}},
		{name: "rueidisx-cancel", own: e.cancellable(key)},
		{name: "redjet", op: func(s *sink) error {
			n, err := e.redjet.Command(e.ctx, "GET", key).WriteTo(s.writer())
			s.written(n)
			return err
		}},
		{name: "redjet-kept", own: e.keptRedjet(key, 1)},
		{name: "go-redis", op: func(s *sink) error {
			b, err := e.goredis.Get(e.ctx, key).Bytes()
			return piece(s, b, err)
		}},
		{name: "redigo", op: func(s *sink) error {
			c := e.redigo.Get()
			defer c.Close()
			b, err := redis.Bytes(c.Do("GET", key))
			return piece(s, b, err)
		}},
	}
	return append(impls, e.compatSingles(key)...)
}

// cancellable is Copy with a context that can be cancelled, for which a read that waits is watched.
func (e *env) cancellable(key string) maker {
	return func() (func(s *sink) error, func()) {
		ctx, cancel := context.WithCancel(e.ctx)
		return func(s *sink) error {
			n, err := rueidisstream.Copy(ctx, e.rueidis, e.rueidis.B().Get().Key(key).Build(), s.writer())
			s.written(n)
			return err
		}, cancel
	}
}

// pipelines read it some times at once.
func (e *env) pipelines(key string) []impl {
	impls := []impl{
		{name: "rueidis", own: e.ownCommands(key, func(s *sink, cmds []rueidis.Completed) error {
			stream := e.rueidis.DoMultiStream(e.ctx, cmds...)
			for stream.HasNext() {
				n, err := stream.WriteTo(s.writer())
				if err != nil {
					return err
				}
				s.written(n)
			}
			return nil
		})},
		{name: "rueidisx", own: e.ownCommands(key, func(s *sink, cmds []rueidis.Completed) error {
			for r, err := range rueidisstream.DoMulti(e.ctx, e.rueidis, cmds).All() {
				if err != nil {
					return err
				}
				n, err := r.WriteTo(s.writer())
				if err != nil {
					return err
				}
				s.written(n)
			}
			return nil
		})},
		{name: "redjet", op: func(s *sink) error {
			var p *redjet.Pipeline
			for range pipelined {
				p = e.redjet.Pipeline(e.ctx, p, "GET", key)
			}
			defer p.Close()
			return drainRedjet(s, p)
		}},
		{name: "redjet-kept", own: e.keptRedjet(key, pipelined)},
		{name: "go-redis", op: func(s *sink) error {
			p := e.goredis.Pipeline()
			for range pipelined {
				p.Get(e.ctx, key)
			}
			cmds, err := p.Exec(e.ctx)
			if err != nil {
				return err
			}
			for _, cmd := range cmds {
				get, ok := cmd.(*goredis.StringCmd)
				if !ok {
					return fmt.Errorf("a %T", cmd)
				}
				b, err := get.Bytes()
				if err := piece(s, b, err); err != nil {
					return err
				}
			}
			return nil
		}},
		{name: "redigo", op: func(s *sink) error {
			c := e.redigo.Get()
			defer c.Close()
			for range pipelined {
				if err := c.Send("GET", key); err != nil {
					return err
				}
			}
			if err := c.Flush(); err != nil {
				return err
			}
			for range pipelined {
				b, err := redis.Bytes(c.Receive())
				if err := piece(s, b, err); err != nil {
					return err
				}
			}
			return nil
		}},
	}
	return append(impls, e.compatPipelines(key)...)
}

// ownCommands is for pipelines of rueidis: each goroutine has its own slice of commands.
func (e *env) ownCommands(key string, do func(s *sink, cmds []rueidis.Completed) error) maker {
	return func() (func(s *sink) error, func()) {
		cmds := make([]rueidis.Completed, pipelined)
		return func(s *sink) error {
			for i := range cmds {
				cmds[i] = e.rueidis.B().Get().Key(key).Build()
			}
			return do(s, cmds)
		}, func() {}
	}
}

// keptRedjet is redjet as its authors measure it: each goroutine keeps a Pipeline, which holds a connection.
func (e *env) keptRedjet(key string, times int) maker {
	return func() (func(s *sink) error, func()) {
		var p *redjet.Pipeline
		return func(s *sink) error {
			for range times {
				p = e.redjet.Pipeline(e.ctx, p, "GET", key)
			}
			return drainRedjet(s, p)
		}, func() { _ = p.Close() }
	}
}

func drainRedjet(s *sink, p *redjet.Pipeline) error {
	for p.Next() {
		n, err := p.WriteTo(s.writer())
		if err != nil {
			return err
		}
		s.written(n)
	}
	return nil
}

// writer is where a string goes: nowhere, while it is measured.
func (s *sink) writer() io.Writer {
	if s.check {
		return whole{s}
	}
	return io.Discard
}
