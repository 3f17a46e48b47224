package goredis

import (
	"context"

	"github.com/redis/rueidis/rueidiscompat"
)

// ZRange returns the members of a sorted set by their ranks; it is rueidiscompat's, streamed where the reply is big.
func (a *Adapter) ZRange(ctx context.Context, key string, start, stop int64) *rueidiscompat.StringSliceCmd {
	return fetch(ctx, a, zrange, key, between(start, stop), listShape, func(c rueidiscompat.Cmdable) *rueidiscompat.StringSliceCmd {
		return c.ZRange(ctx, key, start, stop)
	})
}

// ZRangeWithScores is ZRange with the scores.
func (a *Adapter) ZRangeWithScores(ctx context.Context, key string, start, stop int64) *rueidiscompat.ZSliceCmd {
	return fetch(ctx, a, zrange, key, atMost(between(start, stop), 2), scoreShape, func(c rueidiscompat.Cmdable) *rueidiscompat.ZSliceCmd {
		return c.ZRangeWithScores(ctx, key, start, stop)
	})
}

// ZRangeByScore returns the members of a sorted set by their scores; it is rueidiscompat's, streamed where the reply is big.
func (a *Adapter) ZRangeByScore(ctx context.Context, key string, opt rueidiscompat.ZRangeBy) *rueidiscompat.StringSliceCmd {
	return fetch(ctx, a, zrangeby, key, limit(opt.Offset, opt.Count, 1), listShape, func(c rueidiscompat.Cmdable) *rueidiscompat.StringSliceCmd {
		return c.ZRangeByScore(ctx, key, opt)
	})
}

// ZRangeByLex returns the members of a sorted set by their bytes; it is rueidiscompat's, streamed where the reply is big.
func (a *Adapter) ZRangeByLex(ctx context.Context, key string, opt rueidiscompat.ZRangeBy) *rueidiscompat.StringSliceCmd {
	return fetch(ctx, a, zrangeby, key, limit(opt.Offset, opt.Count, 1), listShape, func(c rueidiscompat.Cmdable) *rueidiscompat.StringSliceCmd {
		return c.ZRangeByLex(ctx, key, opt)
	})
}

// ZRangeByScoreWithScores is ZRangeByScore with the scores.
func (a *Adapter) ZRangeByScoreWithScores(ctx context.Context, key string, opt rueidiscompat.ZRangeBy) *rueidiscompat.ZSliceCmd {
	return fetch(ctx, a, zrangeby, key, limit(opt.Offset, opt.Count, 2), scoreShape, func(c rueidiscompat.Cmdable) *rueidiscompat.ZSliceCmd {
		return c.ZRangeByScoreWithScores(ctx, key, opt)
	})
}

// ZRevRange returns the members of a sorted set by their ranks, from the highest; it is rueidiscompat's, streamed where the reply is big.
func (a *Adapter) ZRevRange(ctx context.Context, key string, start, stop int64) *rueidiscompat.StringSliceCmd {
	return fetch(ctx, a, zrange, key, between(start, stop), listShape, func(c rueidiscompat.Cmdable) *rueidiscompat.StringSliceCmd {
		return c.ZRevRange(ctx, key, start, stop)
	})
}

// ZRevRangeWithScores is ZRevRange with the scores.
func (a *Adapter) ZRevRangeWithScores(ctx context.Context, key string, start, stop int64) *rueidiscompat.ZSliceCmd {
	return fetch(ctx, a, zrange, key, atMost(between(start, stop), 2), scoreShape, func(c rueidiscompat.Cmdable) *rueidiscompat.ZSliceCmd {
		return c.ZRevRangeWithScores(ctx, key, start, stop)
	})
}

// ZRevRangeByScore returns the members of a sorted set by their scores, from the highest; it is rueidiscompat's, streamed where the reply is big.
func (a *Adapter) ZRevRangeByScore(ctx context.Context, key string, opt rueidiscompat.ZRangeBy) *rueidiscompat.StringSliceCmd {
	return fetch(ctx, a, zrangeby, key, limit(opt.Offset, opt.Count, 1), listShape, func(c rueidiscompat.Cmdable) *rueidiscompat.StringSliceCmd {
		return c.ZRevRangeByScore(ctx, key, opt)
	})
}

// ZRevRangeByLex returns the members of a sorted set by their bytes, from the highest; it is rueidiscompat's, streamed where the reply is big.
func (a *Adapter) ZRevRangeByLex(ctx context.Context, key string, opt rueidiscompat.ZRangeBy) *rueidiscompat.StringSliceCmd {
	return fetch(ctx, a, zrangeby, key, limit(opt.Offset, opt.Count, 1), listShape, func(c rueidiscompat.Cmdable) *rueidiscompat.StringSliceCmd {
		return c.ZRevRangeByLex(ctx, key, opt)
	})
}

// ZRevRangeByScoreWithScores is ZRevRangeByScore with the scores.
func (a *Adapter) ZRevRangeByScoreWithScores(ctx context.Context, key string, opt rueidiscompat.ZRangeBy) *rueidiscompat.ZSliceCmd {
	return fetch(ctx, a, zrangeby, key, limit(opt.Offset, opt.Count, 2), scoreShape, func(c rueidiscompat.Cmdable) *rueidiscompat.ZSliceCmd {
		return c.ZRevRangeByScoreWithScores(ctx, key, opt)
	})
}

// ZRangeArgs returns the members of a sorted set by any of the ways of ZRANGE; it is rueidiscompat's, streamed where the reply is big.
func (a *Adapter) ZRangeArgs(ctx context.Context, z rueidiscompat.ZRangeArgs) *rueidiscompat.StringSliceCmd {
	return fetch(ctx, a, zrangeby, z.Key, limit(z.Offset, z.Count, 1), listShape, func(c rueidiscompat.Cmdable) *rueidiscompat.StringSliceCmd {
		return c.ZRangeArgs(ctx, z)
	})
}

// ZRangeArgsWithScores is ZRangeArgs with the scores.
func (a *Adapter) ZRangeArgsWithScores(ctx context.Context, z rueidiscompat.ZRangeArgs) *rueidiscompat.ZSliceCmd {
	return fetch(ctx, a, zrangeby, z.Key, limit(z.Offset, z.Count, 2), scoreShape, func(c rueidiscompat.Cmdable) *rueidiscompat.ZSliceCmd {
		return c.ZRangeArgsWithScores(ctx, z)
	})
}

// ZInter returns the members that all sorted sets have; it is rueidiscompat's, streamed where the reply is big.
// Keys in several slots of a cluster are the error CROSSSLOT, where rueidiscompat panics.
func (a *Adapter) ZInter(ctx context.Context, store rueidiscompat.ZStore) *rueidiscompat.StringSliceCmd {
	if !a.oneSlot(store.Keys) {
		return failed(new(rueidiscompat.StringSliceCmd), errCrossSlot())
	}
	return fetch(ctx, a, zcombine, first(store.Keys), -1, listShape, func(c rueidiscompat.Cmdable) *rueidiscompat.StringSliceCmd {
		return c.ZInter(ctx, store)
	})
}

// ZInterWithScores is ZInter with the scores.
func (a *Adapter) ZInterWithScores(ctx context.Context, store rueidiscompat.ZStore) *rueidiscompat.ZSliceCmd {
	if !a.oneSlot(store.Keys) {
		return failed(new(rueidiscompat.ZSliceCmd), errCrossSlot())
	}
	return fetch(ctx, a, zcombine, first(store.Keys), -1, scoreShape, func(c rueidiscompat.Cmdable) *rueidiscompat.ZSliceCmd {
		return c.ZInterWithScores(ctx, store)
	})
}

// ZUnion returns the members of all sorted sets; it is rueidiscompat's, streamed where the reply is big.
// Keys in several slots of a cluster are the error CROSSSLOT, where rueidiscompat panics.
func (a *Adapter) ZUnion(ctx context.Context, store rueidiscompat.ZStore) *rueidiscompat.StringSliceCmd {
	if !a.oneSlot(store.Keys) {
		return failed(new(rueidiscompat.StringSliceCmd), errCrossSlot())
	}
	return fetch(ctx, a, zcombine, first(store.Keys), -1, listShape, func(c rueidiscompat.Cmdable) *rueidiscompat.StringSliceCmd {
		return c.ZUnion(ctx, store)
	})
}

// ZUnionWithScores is ZUnion with the scores.
func (a *Adapter) ZUnionWithScores(ctx context.Context, store rueidiscompat.ZStore) *rueidiscompat.ZSliceCmd {
	if !a.oneSlot(store.Keys) {
		return failed(new(rueidiscompat.ZSliceCmd), errCrossSlot())
	}
	return fetch(ctx, a, zcombine, first(store.Keys), -1, scoreShape, func(c rueidiscompat.Cmdable) *rueidiscompat.ZSliceCmd {
		return c.ZUnionWithScores(ctx, store)
	})
}

// ZDiff returns the members of the first sorted set that no other has; it is rueidiscompat's, streamed where the reply is big.
// Keys in several slots of a cluster are the error CROSSSLOT, where rueidiscompat panics.
func (a *Adapter) ZDiff(ctx context.Context, keys ...string) *rueidiscompat.StringSliceCmd {
	if !a.oneSlot(keys) {
		return failed(new(rueidiscompat.StringSliceCmd), errCrossSlot())
	}
	return fetch(ctx, a, zcombine, first(keys), -1, listShape, func(c rueidiscompat.Cmdable) *rueidiscompat.StringSliceCmd {
		return c.ZDiff(ctx, keys...)
	})
}

// ZDiffWithScores is ZDiff with the scores.
func (a *Adapter) ZDiffWithScores(ctx context.Context, keys ...string) *rueidiscompat.ZSliceCmd {
	if !a.oneSlot(keys) {
		return failed(new(rueidiscompat.ZSliceCmd), errCrossSlot())
	}
	return fetch(ctx, a, zcombine, first(keys), -1, scoreShape, func(c rueidiscompat.Cmdable) *rueidiscompat.ZSliceCmd {
		return c.ZDiffWithScores(ctx, keys...)
	})
}

// limit is atMost for LIMIT as rueidiscompat sends it: not at all if both are 0.
func limit(offset, count, parts int64) int64 {
	if offset == 0 && count == 0 {
		return -1
	}
	return atMost(count, parts)
}
