package goredis

import (
	"context"
	"sync"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidiscompat"
)

// catcher is a client that sends nothing: it lets rueidiscompat build a command, keeps it, and answers with an error. So the
// command is the very one that rueidiscompat sends, and its result type has all that rueidiscompat puts into it; the value and
// the error are then set from the stream.
type catcher struct {
	rueidis.Client
	compat rueidiscompat.Cmdable // over this catcher
	cmd    rueidis.Completed
}

func (c *catcher) Do(_ context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	c.cmd = cmd
	return noResult
}

func (c *catcher) DoStream(_ context.Context, cmd rueidis.Completed) rueidis.RedisResultStream {
	c.cmd = cmd
	return rueidis.NewErrorResultStream(errOtherwise)
}

var noResult = rueidis.NewErrorResult(errOtherwise)

// catchers is a pool of them, for one client.
type catchers struct{ pool *sync.Pool }

func newCatchers(client rueidis.Client) catchers {
	return catchers{&sync.Pool{New: func() any {
		c := &catcher{Client: client}
		c.compat = rueidiscompat.NewAdapter(c)
		return c
	}}}
}

// catch returns the result that call has made, without a value, and the command that it would have sent.
func catch[C any](a *Adapter, call func(rueidiscompat.Cmdable) C) (C, rueidis.Completed) {
	c := a.catcher.pool.Get().(*catcher)
	result := call(c.compat)
	cmd := c.cmd
	c.cmd = rueidis.Completed{}
	a.catcher.pool.Put(c)
	return result, cmd
}

// reading returns cmd as one that only reads, which may be sent again when a connection turns out to be closed, and whether a
// replica may have it: rueidiscompat leaves that mark out for SORT and some ZRANGE.
func (a *Adapter) reading(cmd rueidis.Completed, key string) (_ rueidis.Completed, replica bool) {
	if cmd.IsReadOnly() {
		return cmd, true
	}
	again := a.client.B().Arbitrary(cmd.Commands()...).ReadOnly()
	if a.cluster && key != "" {
		again = again.SetSlot(key)
	}
	return again, false
}
