package goredis

import (
	"context"

	"github.com/redis/rueidis/rueidiscompat"
)

// HGetAll returns all fields of a hash and their values; it is rueidiscompat's, streamed where the reply is big.
func (a *Adapter) HGetAll(ctx context.Context, key string) *rueidiscompat.StringStringMapCmd {
	return fetch(ctx, a, hgetall, key, -1, mapShape, func(c rueidiscompat.Cmdable) *rueidiscompat.StringStringMapCmd {
		return c.HGetAll(ctx, key)
	})
}

// HKeys returns all fields of a hash; it is rueidiscompat's, streamed where the reply is big.
func (a *Adapter) HKeys(ctx context.Context, key string) *rueidiscompat.StringSliceCmd {
	return fetch(ctx, a, hkeys, key, -1, listShape, func(c rueidiscompat.Cmdable) *rueidiscompat.StringSliceCmd {
		return c.HKeys(ctx, key)
	})
}

// HVals returns all values of a hash; it is rueidiscompat's, streamed where the reply is big.
func (a *Adapter) HVals(ctx context.Context, key string) *rueidiscompat.StringSliceCmd {
	return fetch(ctx, a, hvals, key, -1, listShape, func(c rueidiscompat.Cmdable) *rueidiscompat.StringSliceCmd {
		return c.HVals(ctx, key)
	})
}
