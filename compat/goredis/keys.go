package goredis

import (
	"context"
	"sync"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidiscompat"
)

// Keys returns the keys that match pattern, on a cluster those of all primaries; it is rueidiscompat's, streamed where the reply
// is big.
func (a *Adapter) Keys(ctx context.Context, pattern string) *rueidiscompat.StringSliceCmd {
	q := about(keyspace, pattern)
	if a.from < 0 || a.from > 0 && !a.sizes.big(q) {
		c := a.Cmdable.Keys(ctx, pattern)
		if c.Err() == nil && a.from >= 0 {
			a.sizes.learn(q, len(c.Val()) >= a.from)
		}
		return c
	}
	var mu sync.Mutex
	var keys []string
	err := a.Cmdable.ForEachMaster(ctx, func(ctx context.Context, node rueidiscompat.Cmdable) error {
		of := *a
		of.client, of.cluster = node.Client(), false
		some, err := stream(ctx, &of, of.client.B().Keys().Pattern(pattern).Build(), "", readStrings)
		if err == errOtherwise {
			some, err = of.client.Do(ctx, of.client.B().Keys().Pattern(pattern).Build()).AsStrSlice()
		}
		if err == nil {
			mu.Lock()
			keys = join(keys, some)
			mu.Unlock()
		}
		return err
	})
	if err == nil {
		a.sizes.learn(q, len(keys) >= a.from)
	}
	c := new(rueidiscompat.StringSliceCmd)
	c.SetVal(keys)
	c.SetErr(err)
	return c
}

// join appends some to all, which is nil as long as there is nothing.
func join(all, some []string) []string {
	if all == nil && len(some) > 0 {
		return some
	}
	return append(all, some...)
}

// Sort returns the sorted elements of a list, set or sorted set, or what Get makes of them; it is rueidiscompat's, streamed where
// the reply is big. It panics for an Order that is none, as rueidiscompat does.
func (a *Adapter) Sort(ctx context.Context, key string, sort rueidiscompat.Sort) *rueidiscompat.StringSliceCmd {
	return fetch(ctx, a, sorted, key, sortLimit(sort), listShape, func(c rueidiscompat.Cmdable) *rueidiscompat.StringSliceCmd {
		return c.Sort(ctx, key, sort)
	})
}

// SortRO is Sort by the command SORT_RO.
func (a *Adapter) SortRO(ctx context.Context, key string, sort rueidiscompat.Sort) *rueidiscompat.StringSliceCmd {
	return fetch(ctx, a, sorted, key, sortLimit(sort), listShape, func(c rueidiscompat.Cmdable) *rueidiscompat.StringSliceCmd {
		return c.SortRO(ctx, key, sort)
	})
}

// SortInterfaces is Sort with nil for what Get does not find.
func (a *Adapter) SortInterfaces(ctx context.Context, key string, sort rueidiscompat.Sort) *rueidiscompat.SliceCmd {
	return fetch(ctx, a, sorted, key, sortLimit(sort), sliceShape, func(c rueidiscompat.Cmdable) *rueidiscompat.SliceCmd {
		return c.SortInterfaces(ctx, key, sort)
	})
}

func sortLimit(s rueidiscompat.Sort) int64 {
	return limit(s.Offset, s.Count, int64(max(len(s.Get), 1)))
}

// Del deletes keys and returns how many there were. It is rueidiscompat's for keys in one slot. Keys in several slots of a cluster,
// for which rueidiscompat panics, are deleted by one command for each slot, each sent once. The result is the sum and, if
// some failed, the first error in the order of the keys: the keys of the other slots are deleted all the same, and counted.
func (a *Adapter) Del(ctx context.Context, keys ...string) *rueidiscompat.IntCmd {
	if a.oneSlot(keys) {
		return a.Cmdable.Del(ctx, keys...)
	}
	return a.count(ctx, keys, func(b rueidis.Builder, keys []string) rueidis.Completed { return b.Del().Key(keys...).Build() })
}

// Unlink is Del, but the server frees the memory later.
func (a *Adapter) Unlink(ctx context.Context, keys ...string) *rueidiscompat.IntCmd {
	if a.oneSlot(keys) {
		return a.Cmdable.Unlink(ctx, keys...)
	}
	return a.count(ctx, keys, func(b rueidis.Builder, keys []string) rueidis.Completed { return b.Unlink().Key(keys...).Build() })
}

// Exists returns how many of the keys there are, one that is named twice twice. For keys in several slots of a cluster it does as
// Del does.
func (a *Adapter) Exists(ctx context.Context, keys ...string) *rueidiscompat.IntCmd {
	if a.oneSlot(keys) {
		return a.Cmdable.Exists(ctx, keys...)
	}
	return a.count(ctx, keys, func(b rueidis.Builder, keys []string) rueidis.Completed { return b.Exists().Key(keys...).Build() })
}

// Touch marks keys as used and returns how many there are. For keys in several slots of a cluster it does as Del does.
func (a *Adapter) Touch(ctx context.Context, keys ...string) *rueidiscompat.IntCmd {
	if a.oneSlot(keys) {
		return a.Cmdable.Touch(ctx, keys...)
	}
	return a.count(ctx, keys, func(b rueidis.Builder, keys []string) rueidis.Completed { return b.Touch().Key(keys...).Build() })
}

// count sends a command for each slot and adds up what they return.
func (a *Adapter) count(ctx context.Context, keys []string, build func(rueidis.Builder, []string) rueidis.Completed) *rueidiscompat.IntCmd {
	groups := bySlot(keys)
	cmds := make([]rueidis.Completed, len(groups))
	for i, g := range groups {
		cmds[i] = build(a.client.B(), g.keys)
	}
	var sum int64
	var failure error
	for _, reply := range a.client.DoMulti(ctx, cmds...) {
		n, err := reply.AsInt64()
		sum += n
		if failure == nil {
			failure = err
		}
	}
	c := new(rueidiscompat.IntCmd)
	c.SetVal(sum)
	c.SetErr(failure)
	return c
}
