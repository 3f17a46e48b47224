package main

import (
	"io"

	"github.com/redis/rueidis/rueidiscompat"

	"github.com/rueidisx/rueidisx/compat/goredis"
	"github.com/rueidisx/rueidisx/compat/redjet"
)

// compatPeers are rueidisx' adapters, and the one of rueidis to which that of go-redis is compared.
func (e *env) compatPeers() []peer {
	return []peer{
		e.adapterPeer("rueidiscompat", rueidiscompat.NewAdapter(e.rueidis)),
		e.adapterPeer("rueidisx-goredis", goredis.NewAdapter(e.rueidis)),
		e.compatRedjetPeer(),
	}
}

func (e *env) adapterPeer(name string, c rueidiscompat.Cmdable) peer {
	return peer{
		name: name,
		all: map[string]func(s *sink, key string) error{
			smembers: func(s *sink, key string) error {
				v, err := c.SMembers(e.ctx, key).Result()
				return elements(s, v, err)
			},
			lrange: func(s *sink, key string) error {
				v, err := c.LRange(e.ctx, key, 0, -1).Result()
				return elements(s, v, err)
			},
			hgetall: func(s *sink, key string) error {
				v, err := c.HGetAll(e.ctx, key).Result()
				for f, m := range v {
					s.seeString(f)
					s.seeString(m)
				}
				return err
			},
			zrange: func(s *sink, key string) error {
				v, err := c.ZRangeWithScores(e.ctx, key, 0, -1).Result()
				for _, z := range v {
					member, _ := any(z.Member).(string)
					s.seeString(member)
					s.seeScore(z.Score)
				}
				return err
			},
			xrange: func(s *sink, key string) error {
				v, err := c.XRange(e.ctx, key, "-", "+").Result()
				for _, x := range v {
					s.seeString(x.ID)
					for f, m := range x.Values {
						s.seeString(f)
						text, _ := m.(string)
						s.seeString(text)
					}
				}
				return err
			},
		},
		json: func(s *sink, key string) error {
			b, err := c.Get(e.ctx, key).Bytes()
			return list(s, b, err)
		},
		value: func(s *sink, key string) error {
			b, err := c.Get(e.ctx, key).Bytes()
			return piece(s, b, err)
		},
	}
}

func (e *env) compatRedjetPeer() peer {
	c := redjet.New(e.rueidis)
	strs := func(see func(*sink, []string, error) error, command string, args ...any) func(s *sink, key string) error {
		return func(s *sink, key string) error {
			v, err := c.Command(e.ctx, command, append([]any{key}, args...)...).Strings()
			return see(s, v, err)
		}
	}
	return peer{
		name: "rueidisx-redjet",
		all: map[string]func(s *sink, key string) error{
			smembers: strs(elements, "SMEMBERS"),
			lrange:   strs(elements, "LRANGE", "0", "-1"),
			hgetall:  strs(elements, "HGETALL"),
		},
		json: func(s *sink, key string) error {
			var v []string
			err := c.Command(e.ctx, "GET", key).JSON(&v)
			return elements(s, v, err)
		},
		value: func(s *sink, key string) error {
			n, err := c.Command(e.ctx, "GET", key).WriteTo(whole{s})
			s.written(n)
			return err
		},
	}
}

func (e *env) compatSingles(key string) []impl {
	c := redjet.New(e.rueidis)
	a := goredis.NewAdapter(e.rueidis)
	return []impl{
		{name: "rueidisx-redjet", op: func(s *sink) error {
			n, err := c.Command(e.ctx, "GET", key).WriteTo(s.writer())
			s.written(n)
			return err
		}},
		{name: "rueidisx-redjet-kept", own: func() (func(s *sink) error, func()) {
			var p *redjet.Pipeline
			return func(s *sink) error {
				p = c.Pipeline(e.ctx, p, "GET", key)
				return drainCompat(s, p)
			}, func() { _ = p.Close() }
		}},
		{name: "rueidisx-goredis", op: func(s *sink) error {
			r, _, err := a.GetReader(e.ctx, key)
			if err != nil {
				return err
			}
			defer r.Close()
			n, err := io.Copy(s.writer(), r)
			s.written(n)
			return err
		}},
	}
}

func (e *env) compatPipelines(key string) []impl {
	c := redjet.New(e.rueidis)
	return []impl{
		{name: "rueidisx-redjet", op: func(s *sink) error {
			var p *redjet.Pipeline
			for range pipelined {
				p = c.Pipeline(e.ctx, p, "GET", key)
			}
			defer p.Close()
			return drainCompat(s, p)
		}},
		{name: "rueidisx-redjet-kept", own: func() (func(s *sink) error, func()) {
			var p *redjet.Pipeline
			return func(s *sink) error {
				for range pipelined {
					p = c.Pipeline(e.ctx, p, "GET", key)
				}
				return drainCompat(s, p)
			}, func() { _ = p.Close() }
		}},
	}
}

func drainCompat(s *sink, p *redjet.Pipeline) error {
	for p.Next() {
		n, err := p.WriteTo(s.writer())
		if err != nil {
			return err
		}
		s.written(n)
	}
	return nil
}
