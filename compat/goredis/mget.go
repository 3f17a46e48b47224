package goredis

import (
	"context"
	"errors"
	"io"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidiscompat"

	"github.com/rueidisx/rueidisx/rueidisstream"
)

// MGet returns the values of the keys in their order: strings, and nil for a key that is missing or of another type. It is
// rueidiscompat's, streamed where there are many keys. Keys in several slots of a cluster, for which rueidiscompat panics, are
// asked for by one command for each slot, so that their values are not of one moment; an error of one is the result's.
func (a *Adapter) MGet(ctx context.Context, keys ...string) *rueidiscompat.SliceCmd {
	one := a.oneSlot(keys)
	if one && (a.from < 0 || len(keys) < max(a.from, 1)) {
		return a.Cmdable.MGet(ctx, keys...)
	}
	var vals []any
	var err error
	if one {
		if vals, err = stream(ctx, a, a.client.B().Mget().Key(keys...).Build(), keys[0], readAnys); err == errOtherwise {
			return a.Cmdable.MGet(ctx, keys...)
		}
	} else {
		vals, err = a.mget(ctx, keys)
	}
	if err != nil {
		vals = nil
	}
	// HMGET has a result with the same names for Scan, and no slots to look at.
	c, _ := catch(a, func(c rueidiscompat.Cmdable) *rueidiscompat.SliceCmd { return c.HMGet(ctx, "", keys...) })
	c.SetVal(vals)
	c.SetErr(err)
	return c
}

// mget returns the values of keys in several slots.
func (a *Adapter) mget(ctx context.Context, keys []string) ([]any, error) {
	groups := bySlot(keys)
	vals := make([]any, len(keys))
	if len(keys) >= a.from && a.from >= 0 && !a.sizes.off.Load() {
		err := a.mgetStream(ctx, groups, vals)
		if err != errOtherwise {
			return vals, err
		}
		clear(vals)
	}
	return vals, a.mgetSmall(ctx, groups, vals)
}

func (a *Adapter) mgetCommands(groups []group) []rueidis.Completed {
	cmds := make([]rueidis.Completed, len(groups))
	for i, g := range groups {
		cmds[i] = a.client.B().Mget().Key(g.keys...).Build()
	}
	return cmds
}

// mgetSmall asks over the shared connections.
func (a *Adapter) mgetSmall(ctx context.Context, groups []group, vals []any) error {
	for i, reply := range a.client.DoMulti(ctx, a.mgetCommands(groups)...) {
		some, err := reply.ToArray()
		if err != nil {
			return err
		}
		for j := range min(len(some), len(groups[i].index)) {
			if s, err := some[j].ToString(); err == nil {
				vals[groups[i].index[j]] = s
			}
		}
		if len(some) != len(groups[i].index) {
			return errShort
		}
	}
	return nil
}

// mgetStream asks over a connection to each node.
func (a *Adapter) mgetStream(ctx context.Context, groups []group, vals []any) error {
	replies := rueidisstream.DoMulti(ctx, a.client, a.mgetCommands(groups), rueidisstream.AllowReplica())
	defer replies.Close()
	var w views
	left := int64(len(vals))
	for _, g := range groups {
		r, err := replies.Next()
		if err == io.EOF {
			return errShort
		}
		if err != nil {
			if errors.Is(err, rueidisstream.ErrUnsupported) {
				a.sizes.off.Store(true)
			}
			return outcome(ctx, err, true)
		}
		n := 0
		for v, err := range r.Values() {
			if err != nil {
				return outcome(ctx, err, errors.Is(err, rueidisstream.ErrTooBig))
			}
			if n == len(g.index) {
				return errShort
			}
			left--
			vals[g.index[n]] = w.anyOf(v, left)
			n++
		}
		if n != len(g.index) {
			return errShort
		}
	}
	return nil
}

var errShort = errors.New("compat/goredis: MGET: the reply has not as many values as there are keys")

var sliceShape = shape[[]any]{read: readAnys, size: func(v []any) int { return len(v) }}

// readAnys is what rueidiscompat makes of a reply for a SliceCmd: strings, and nil for what is none.
func readAnys(r *rueidisstream.Reader) ([]any, error) {
	h := r.Header()
	if !isList(h) {
		return nil, rueidisstream.ErrShape
	}
	var w views
	vals := make([]any, 0, roomFor(h.Len))
	for v, err := range r.Values() {
		if err != nil {
			return nil, err
		}
		left := h.Len - int64(len(vals)) - 1
		vals = append(grow(vals, left+1), w.anyOf(v, left))
	}
	return vals, nil
}

// anyOf returns what RedisMessage.ToString gives, and nil where that has an error.
func (w *views) anyOf(v rueidisstream.Value, left int64) any {
	switch v.Kind() {
	case rueidisstream.KindString, rueidisstream.KindSimple, rueidisstream.KindDouble, rueidisstream.KindBigNumber:
		return w.add(v.Bytes(), left)
	case rueidisstream.KindBool:
		return ""
	}
	return nil
}
