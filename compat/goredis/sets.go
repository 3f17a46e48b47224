package goredis

import (
	"context"

	"github.com/redis/rueidis/rueidiscompat"
)

// SMembers returns all members of a set; it is rueidiscompat's, streamed where the reply is big.
func (a *Adapter) SMembers(ctx context.Context, key string) *rueidiscompat.StringSliceCmd {
	return fetch(ctx, a, smembers, key, -1, listShape, func(c rueidiscompat.Cmdable) *rueidiscompat.StringSliceCmd {
		return c.SMembers(ctx, key)
	})
}

// SMembersMap returns all members of a set as the keys of a map; it is rueidiscompat's, streamed where the reply is big.
func (a *Adapter) SMembersMap(ctx context.Context, key string) *rueidiscompat.StringStructMapCmd {
	return fetch(ctx, a, smembers, key, -1, setShape, func(c rueidiscompat.Cmdable) *rueidiscompat.StringStructMapCmd {
		return c.SMembersMap(ctx, key)
	})
}

// SInter returns the members that all sets have; it is rueidiscompat's, streamed where the reply is big.
// Keys in several slots of a cluster are the error CROSSSLOT, where rueidiscompat panics.
func (a *Adapter) SInter(ctx context.Context, keys ...string) *rueidiscompat.StringSliceCmd {
	if !a.oneSlot(keys) {
		return failed(new(rueidiscompat.StringSliceCmd), errCrossSlot())
	}
	return fetch(ctx, a, sinter, first(keys), -1, listShape, func(c rueidiscompat.Cmdable) *rueidiscompat.StringSliceCmd {
		return c.SInter(ctx, keys...)
	})
}

// SUnion returns the members of all sets; it is rueidiscompat's, streamed where the reply is big.
// Keys in several slots of a cluster are the error CROSSSLOT, where rueidiscompat panics.
func (a *Adapter) SUnion(ctx context.Context, keys ...string) *rueidiscompat.StringSliceCmd {
	if !a.oneSlot(keys) {
		return failed(new(rueidiscompat.StringSliceCmd), errCrossSlot())
	}
	return fetch(ctx, a, sunion, first(keys), -1, listShape, func(c rueidiscompat.Cmdable) *rueidiscompat.StringSliceCmd {
		return c.SUnion(ctx, keys...)
	})
}

// SDiff returns the members of the first set that no other has; it is rueidiscompat's, streamed where the reply is big.
// Keys in several slots of a cluster are the error CROSSSLOT, where rueidiscompat panics.
func (a *Adapter) SDiff(ctx context.Context, keys ...string) *rueidiscompat.StringSliceCmd {
	if !a.oneSlot(keys) {
		return failed(new(rueidiscompat.StringSliceCmd), errCrossSlot())
	}
	return fetch(ctx, a, sdiff, first(keys), -1, listShape, func(c rueidiscompat.Cmdable) *rueidiscompat.StringSliceCmd {
		return c.SDiff(ctx, keys...)
	})
}

// first is the key that sizes go by.
func first(keys []string) string {
	if len(keys) == 0 {
		return ""
	}
	return keys[0]
}

// failed returns a result with an error and nothing else.
func failed[C interface{ SetErr(error) }](c C, err error) C {
	c.SetErr(err)
	return c
}
