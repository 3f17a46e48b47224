package main

import (
	"encoding/json"

	"github.com/redis/rueidis"
)

// peer is a client for Go, and how it reads what the benchmarks ask for. A reader brings every element to the sink, in the
// form in which its client gives it. What a client cannot do is nil.
type peer struct {
	name  string
	all   map[string]func(s *sink, key string) error // a whole collection, by its kind
	json  func(s *sink, key string) error            // GET of a list as JSON
	value func(s *sink, key string) error            // GET of a string, which is not an element
}

// read makes the implementation that reads a collection.
func (p peer) read(kind, key string) (impl, bool) {
	do := p.all[kind]
	return impl{name: p.name, op: func(s *sink) error { return do(s, key) }}, do != nil
}

// peers are all clients for Go: the first is the one to which the others are compared.
func (e *env) peers() []peer {
	return append([]peer{e.rueidisPeer(), e.goredisPeer(), e.redigoPeer(), e.redjetPeer()}, e.ourPeers()...)
}

// elements is for a client that gives a reply as one slice.
func elements(s *sink, v []string, err error) error {
	for _, m := range v {
		s.seeString(m)
	}
	return err
}

// list is for a client that gives a string as bytes.
func list(s *sink, text []byte, err error) error {
	if err != nil {
		return err
	}
	var v []string
	err = json.Unmarshal(text, &v)
	return elements(s, v, err)
}

// piece is for a string that came whole.
func piece(s *sink, b []byte, err error) error {
	s.see(b)
	return err
}

// rueidisPeer is rueidis as it is: client.Do.
func (e *env) rueidisPeer() peer {
	c := e.rueidis
	do := func(cmd rueidis.Completed) rueidis.RedisResult { return c.Do(e.ctx, cmd) }
	return peer{
		name: "client.Do",
		all: map[string]func(s *sink, key string) error{
			smembers: func(s *sink, key string) error {
				v, err := do(c.B().Smembers().Key(key).Build()).AsStrSlice()
				return elements(s, v, err)
			},
			lrange: func(s *sink, key string) error {
				v, err := do(c.B().Lrange().Key(key).Start(0).Stop(-1).Build()).AsStrSlice()
				return elements(s, v, err)
			},
			hgetall: func(s *sink, key string) error {
				v, err := do(c.B().Hgetall().Key(key).Build()).AsStrMap()
				for f, m := range v {
					s.seeString(f)
					s.seeString(m)
				}
				return err
			},
			zrange: func(s *sink, key string) error {
				v, err := do(c.B().Zrange().Key(key).Min("0").Max("-1").Withscores().Build()).AsZScores()
				for _, z := range v {
					s.seeString(z.Member)
					s.seeScore(z.Score)
				}
				return err
			},
			xrange: func(s *sink, key string) error {
				v, err := do(c.B().Xrange().Key(key).Start("-").End("+").Build()).AsXRange()
				for _, x := range v {
					s.seeString(x.ID)
					for f, m := range x.FieldValues {
						s.seeString(f)
						s.seeString(m)
					}
				}
				return err
			},
		},
		json: func(s *sink, key string) error {
			b, err := do(c.B().Get().Key(key).Build()).AsBytes()
			return list(s, b, err)
		},
		value: func(s *sink, key string) error {
			b, err := do(c.B().Get().Key(key).Build()).AsBytes()
			return piece(s, b, err)
		},
	}
}
