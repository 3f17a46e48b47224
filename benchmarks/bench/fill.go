package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/rueidis"
)

// kinds of collections, each with the command that reads all of it.
const (
	smembers = "SMEMBERS"
	hgetall  = "HGETALL"
	lrange   = "LRANGE"
	zrange   = "ZRANGE"
	xrange   = "XRANGE"
)

var kinds = []string{smembers, hgetall, lrange, zrange, xrange}

// member is the i-th of 16 bytes.
func member(i int) string {
	digits := strconv.Itoa(i)
	return "member:000000000"[:16-len(digits)] + digits
}

// key is that of a collection of size elements. The braces are for a server that is a cluster's node.
func key(kind string, size int) string { return fmt.Sprintf("%s{c}%s:%d", prefix, kind, size) }

// element is what one element of a collection is when it is written and when it is read.
func element(kind string, i int) (write, read []string) {
	m := member(i)
	switch kind {
	case hgetall:
		return []string{m, m}, []string{m, m}
	case zrange:
		return []string{strconv.Itoa(i), m}, []string{m, strconv.Itoa(i)}
	case xrange:
		id := strconv.Itoa(i+1) + "-0"
		return []string{id, "f", m}, []string{id, "f", m}
	default:
		return []string{m}, []string{m}
	}
}

// writers add elements to a collection; each takes several, but for XADD.
var writers = map[string]string{smembers: "SADD", hgetall: "HSET", lrange: "RPUSH", zrange: "ZADD", xrange: "XADD"}

// fill makes the collection and returns what is in it. What is there already stays.
func (e *env) fill(kind string, size int) (want, error) {
	k := key(kind, size)
	if w, ok := e.filled[k]; ok {
		return w, nil
	}
	const chunk, pipeline = 500, 20
	var w want
	var cmds []rueidis.Completed
	flush := func(least int) error {
		if len(cmds) < least {
			return nil
		}
		for _, resp := range e.rueidis.DoMulti(e.ctx, cmds...) {
			if err := resp.Error(); err != nil {
				return fmt.Errorf("filling %s: %w", k, err)
			}
		}
		cmds = cmds[:0]
		return nil
	}
	per := chunk
	if kind == xrange {
		per = 1
	}
	for i := 0; i < size; {
		b := e.rueidis.B().Arbitrary(writers[kind]).Keys(k)
		for range min(per, size-i) {
			write, read := element(kind, i)
			b = b.Args(write...)
			w.add(read...)
			if kind == zrange {
				w.bytes -= int64(len(read[1])) // a score is looked at as a number
			}
			i++
		}
		cmds = append(cmds, b.Build())
		if err := flush(pipeline * chunk / per); err != nil {
			return w, err
		}
	}
	if err := flush(1); err != nil {
		return w, err
	}
	e.filled[k] = w
	return w, nil
}

// value makes a string of size bytes.
func (e *env) value(size int) (k string, err error) {
	k = fmt.Sprintf("%svalue:%d", prefix, size)
	const piece = 8 << 20
	if size <= piece {
		return k, e.rueidis.Do(e.ctx, e.rueidis.B().Set().Key(k).Value(strings.Repeat("v", size)).Build()).Error()
	}
	text := strings.Repeat("0123456789abcdef", piece/16)
	if err := e.rueidis.Do(e.ctx, e.rueidis.B().Del().Key(k).Build()).Error(); err != nil {
		return k, err
	}
	for done := 0; done < size; {
		n := min(piece, size-done)
		if err := e.rueidis.Do(e.ctx, e.rueidis.B().Append().Key(k).Value(text[:n]).Build()).Error(); err != nil {
			return k, err
		}
		done += n
	}
	return k, nil
}

// valueWant is what value has made.
func (e *env) valueWant(size int) want {
	var w want
	if size <= 8<<20 {
		w.add(strings.Repeat("v", size))
		return w
	}
	text := []byte(strings.Repeat("0123456789abcdef", 8<<20/16))
	s := sink{check: true}
	for done := 0; done < size; done += len(text) {
		s.piece(text[:min(len(text), size-done)])
	}
	s.written(int64(size))
	return s.want
}
