package main

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/coder/redjet"
	"github.com/gomodule/redigo/redis"
	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
)

// clients is one client of each kind, with its own defaults where they do not get in the way.
type clients struct {
	rueidis rueidis.Client
	goredis *goredis.Client
	redigo  *redis.Pool
	redjet  *redjet.Client
	bare    net.Conn // of the floor
}

// most is how many connections each client may have: enough for all goroutines of any benchmark.
const most = 300

func newClients(addr string) (*clients, error) {
	c := new(clients)
	opt := rueidis.ClientOption{InitAddress: []string{addr}, DisableCache: true, ForceSingleClient: true}
	opt.Dialer.KeepAlive = time.Hour // a ping every second, which rueidis sends on connections that are idle, allocates, too
	var err error
	if c.rueidis, err = rueidis.NewClient(opt); err != nil {
		return nil, err
	}
	c.goredis = goredis.NewClient(&goredis.Options{Addr: addr, PoolSize: most, ReadTimeout: time.Minute, WriteTimeout: time.Minute})
	c.redigo = &redis.Pool{
		MaxIdle: most,
		DialContext: func(ctx context.Context) (redis.Conn, error) {
			return redis.DialContext(ctx, "tcp", addr)
		},
	}
	c.redjet = redjet.New(addr)
	c.redjet.ConnectionPoolSize = most
	if c.bare, err = net.Dial("tcp", addr); err != nil {
		c.rueidis.Close()
		return nil, err
	}
	return c, nil
}

func (c *clients) close() {
	c.rueidis.Close()
	_ = errors.Join(c.goredis.Close(), c.redigo.Close(), c.redjet.Close(), c.bare.Close())
}
