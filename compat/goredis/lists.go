package goredis

import (
	"context"

	"github.com/redis/rueidis/rueidiscompat"
)

// LRange returns the elements of a list from the index start to the index stop; it is rueidiscompat's, streamed where the reply is big.
func (a *Adapter) LRange(ctx context.Context, key string, start, stop int64) *rueidiscompat.StringSliceCmd {
	return fetch(ctx, a, lrange, key, between(start, stop), listShape, func(c rueidiscompat.Cmdable) *rueidiscompat.StringSliceCmd {
		return c.LRange(ctx, key, start, stop)
	})
}

// between returns how many elements there are at most from one index to another, both from the same end, or -1.
func between(start, stop int64) int64 {
	switch {
	case (start < 0) != (stop < 0):
		return -1
	case stop < start:
		return 0
	}
	return max(stop-start+1, -1) // no more than an int64 has
}

// atMost is for LIMIT and COUNT with n elements, which are no limit if negative; each element counts as many as it has parts.
func atMost(n, parts int64) int64 {
	if n < 0 || n > 1<<32 {
		return -1
	}
	return n * parts
}
