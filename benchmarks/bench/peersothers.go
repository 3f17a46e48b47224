package main

import (
	"strconv"

	"github.com/gomodule/redigo/redis"
	goredis "github.com/redis/go-redis/v9"
)

func (e *env) goredisPeer() peer { return goredisCommands("go-redis", e, e.goredis) }

// goredisReader is what go-redis and rueidisx' adapter of the same name are measured by.
func goredisCommands(name string, e *env, c *goredis.Client) peer {
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
					member, _ := z.Member.(string)
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

func (e *env) redigoPeer() peer {
	strs := func(see func(*sink, []string, error) error, command string, args ...any) func(s *sink, key string) error {
		return func(s *sink, key string) error {
			c := e.redigo.Get()
			defer c.Close()
			v, err := redis.Strings(c.Do(command, append([]any{key}, args...)...))
			return see(s, v, err)
		}
	}
	get := func(key string) ([]byte, error) {
		c := e.redigo.Get()
		defer c.Close()
		return redis.Bytes(c.Do("GET", key))
	}
	return peer{
		name: "redigo",
		all: map[string]func(s *sink, key string) error{
			smembers: strs(elements, "SMEMBERS"),
			lrange:   strs(elements, "LRANGE", 0, -1),
			zrange:   strs(scored, "ZRANGE", 0, -1, "WITHSCORES"),
			hgetall: func(s *sink, key string) error {
				c := e.redigo.Get()
				defer c.Close()
				v, err := redis.StringMap(c.Do("HGETALL", key))
				for f, m := range v {
					s.seeString(f)
					s.seeString(m)
				}
				return err
			},
			xrange: func(s *sink, key string) error {
				c := e.redigo.Get()
				defer c.Close()
				entries, err := redis.Values(c.Do("XRANGE", key, "-", "+"))
				if err != nil {
					return err
				}
				for _, x := range entries {
					entry, err := redis.Values(x, nil)
					if err != nil {
						return err
					}
					id, err := redis.String(entry[0], nil)
					if err != nil {
						return err
					}
					s.seeString(id)
					fields, err := redis.Strings(entry[1], nil)
					if err := elements(s, fields, err); err != nil {
						return err
					}
				}
				return nil
			},
		},
		json: func(s *sink, key string) error {
			b, err := get(key)
			return list(s, b, err)
		},
		value: func(s *sink, key string) error {
			b, err := get(key)
			return piece(s, b, err)
		},
	}
}

// redjetPeer has no XRANGE: redjet v0.5.0 loses count in nested arrays.
func (e *env) redjetPeer() peer {
	strs := func(see func(*sink, []string, error) error, command string, args ...any) func(s *sink, key string) error {
		return func(s *sink, key string) error {
			v, err := e.redjet.Command(e.ctx, command, append([]any{key}, args...)...).Strings()
			return see(s, v, err)
		}
	}
	return peer{
		name: "redjet",
		all: map[string]func(s *sink, key string) error{
			smembers: strs(elements, "SMEMBERS"),
			lrange:   strs(elements, "LRANGE", "0", "-1"),
			zrange:   strs(scored, "ZRANGE", "0", "-1", "WITHSCORES"),
			hgetall:  strs(elements, "HGETALL"),
		},
		json: func(s *sink, key string) error {
			var v []string
			err := e.redjet.Command(e.ctx, "GET", key).JSON(&v)
			return elements(s, v, err)
		},
		value: func(s *sink, key string) error {
			n, err := e.redjet.Command(e.ctx, "GET", key).WriteTo(whole{s})
			s.written(n)
			return err
		},
	}
}

// seeScore is see for a score, as the number that it is.
func (s *sink) seeScore(score float64) {
	s.elements++
	if s.check {
		s.hash(strconv.AppendFloat(nil, score, 'f', -1, 64))
	}
}

// scored is for a client that gives members and scores as one slice of strings.
func scored(s *sink, v []string, err error) error {
	for i := 0; i+1 < len(v) && err == nil; i += 2 {
		s.seeString(v[i])
		var score float64
		score, err = strconv.ParseFloat(v[i+1], 64)
		s.seeScore(score)
	}
	return err
}
