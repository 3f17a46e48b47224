package main

import (
	"encoding/json"
	"iter"

	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/rueidisstream"
)

// ourPeers are rueidisx' ways: the helpers for whole keys, which try the fast path of small keys first, and the stream.
func (e *env) ourPeers() []peer {
	return append([]peer{
		e.streamPeer("rueidisx"),
		e.streamPeer("rueidisx-stream", rueidisstream.WithSmall(0)),
	}, e.compatPeers()...)
}

func (e *env) streamPeer(name string, opts ...rueidisstream.Option) peer {
	c := e.rueidis
	values := func(s *sink, all iter.Seq2[rueidisstream.Value, error]) error {
		for v, err := range all {
			if err != nil {
				return err
			}
			s.see(v.Bytes())
		}
		return nil
	}
	pairs := func(s *sink, all iter.Seq2[rueidisstream.Pair, error]) error {
		for p, err := range all {
			if err != nil {
				return err
			}
			s.see(p.Key.Bytes())
			s.see(p.Value.Bytes())
		}
		return nil
	}
	get := func(key string) rueidis.Completed { return c.B().Get().Key(key).Build() }
	return peer{
		name: name,
		all: map[string]func(s *sink, key string) error{
			smembers: func(s *sink, key string) error { return values(s, rueidisstream.Members(e.ctx, c, key, opts...)) },
			lrange:   func(s *sink, key string) error { return values(s, rueidisstream.Elements(e.ctx, c, key, opts...)) },
			hgetall:  func(s *sink, key string) error { return pairs(s, rueidisstream.Fields(e.ctx, c, key, opts...)) },
			zrange: func(s *sink, key string) error {
				for p, err := range rueidisstream.Scores(e.ctx, c, key, opts...) {
					if err != nil {
						return err
					}
					s.see(p.Key.Bytes())
					score, err := p.Value.AsFloat64()
					if err != nil {
						return err
					}
					s.seeScore(score)
				}
				return nil
			},
			xrange: func(s *sink, key string) error {
				for entry, err := range rueidisstream.Entries(e.ctx, c, key, opts...) {
					if err != nil {
						return err
					}
					for part, err := range entry.Values() {
						if err != nil {
							return err
						}
						if part.Kind() != rueidisstream.KindArray {
							s.see(part.Bytes())
							continue
						}
						if err := values(s, part.Values()); err != nil {
							return err
						}
					}
				}
				return nil
			},
		},
		json: func(s *sink, key string) error {
			r, err := rueidisstream.Do(e.ctx, c, get(key))
			if err != nil {
				return err
			}
			defer r.Close()
			var v []string
			err = json.NewDecoder(r).Decode(&v)
			return elements(s, v, err)
		},
		value: func(s *sink, key string) error {
			n, err := rueidisstream.Copy(e.ctx, c, get(key), whole{s})
			s.written(n)
			return err
		},
	}
}

// whole is the writer of a string that counts as one element.
type whole struct{ s *sink }

func (w whole) Write(p []byte) (int, error) {
	if w.s.check {
		w.s.piece(p)
	}
	return len(p), nil
}
