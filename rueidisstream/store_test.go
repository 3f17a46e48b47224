package rueidisstream_test

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rueidisx/rueidisx/internal/redistest"
)

// store is a Fake that holds strings: what SetFrom and OpenString need and no more. A change may give another reply.
type store struct {
	*redistest.Fake
	mu     sync.Mutex
	values map[string]string
	ttls   map[string]int64 // in milliseconds, as they were set
	queued map[int][][]string
	change func(cmd []string, reply string) string // nil changes nothing; "" cuts the connection
}

func newStore(tb testing.TB, change func(cmd []string, reply string) string) *store {
	s := &store{values: map[string]string{}, ttls: map[string]int64{}, queued: map[int][][]string{}, change: change}
	s.Fake = redistest.NewFake(tb, s.handle)
	return s
}

func (s *store) handle(c *redistest.FakeConn, cmd []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var reply string
	queue, in := s.queued[c.ID]
	switch {
	case cmd[0] == "MULTI":
		s.queued[c.ID] = [][]string{}
		reply = "+OK\r\n"
	case cmd[0] == "EXEC":
		delete(s.queued, c.ID)
		replies := make([]string, len(queue))
		for i, q := range queue {
			replies[i] = s.changed(q, s.do(q))
		}
		reply = redistest.Array(replies...)
	case in:
		s.queued[c.ID] = append(queue, cmd)
		reply = "+QUEUED\r\n"
		if s.change != nil {
			reply = s.changed([]string{"QUEUED", cmd[0]}, reply)
		}
		c.Write(reply)
		return
	default:
		reply = s.do(cmd)
	}
	if reply = s.changed(cmd, reply); reply == "" {
		c.Cut()
		return
	}
	c.Write(reply)
}

func (s *store) changed(cmd []string, reply string) string {
	if s.change == nil {
		return reply
	}
	return s.change(cmd, reply)
}

func (s *store) do(cmd []string) string {
	integer := func(n int) string { return fmt.Sprintf(":%d\r\n", n) }
	number := func(i int) int64 {
		n, _ := strconv.ParseInt(cmd[i], 10, 64)
		return n
	}
	if cmd[0] == "TIME" {
		now := time.Now().UnixMicro()
		return redistest.Array(redistest.Bulks(fmt.Sprint(now/1e6), fmt.Sprint(now%1e6))...)
	}
	if len(cmd) < 2 {
		return "-ERR unknown command\r\n"
	}
	key := cmd[1]
	value, there := s.values[key]
	one := 0
	if there {
		one = 1
	}
	switch cmd[0] {
	case "SET":
		s.values[key] = cmd[2]
		return "+OK\r\n"
	case "GET":
		if !there {
			return "_\r\n"
		}
		return redistest.Bulk(value)
	case "APPEND":
		s.values[key] += cmd[2]
		return integer(len(s.values[key]))
	case "PEXPIRE", "PEXPIREAT":
		s.ttls[key] = number(2)
		return integer(one)
	case "PERSIST":
		delete(s.ttls, key)
		return integer(one)
	case "PTTL":
		if ttl, ok := s.ttls[key]; ok {
			return integer(int(ttl))
		}
		return integer(one - 2)
	case "WATCH":
		return "+OK\r\n"
	case "RENAME":
		if !there {
			return "-ERR no such key\r\n"
		}
		s.values[cmd[2]] = value
		delete(s.values, key)
		delete(s.ttls, cmd[2])
		if ttl, ok := s.ttls[key]; ok {
			s.ttls[cmd[2]] = ttl
			delete(s.ttls, key)
		}
		return "+OK\r\n"
	case "UNLINK":
		delete(s.values, key)
		return integer(one)
	case "EXISTS":
		return integer(one)
	case "STRLEN":
		return integer(len(value))
	case "GETRANGE":
		from, to, size := number(2), number(3), int64(len(value))
		if from < 0 {
			from = max(from+size, 0)
		}
		if to < 0 {
			to += size
		}
		return redistest.Bulk(value[min(from, size):max(min(to+1, size), min(from, size))])
	}
	return "-ERR unknown command '" + cmd[0] + "'\r\n"
}

// names returns the names of the commands that came, in order.
func (s *store) names() string {
	var names []string
	for _, cmd := range s.Commands() {
		names = append(names, cmd[0])
	}
	return strings.Join(names, " ")
}
