package goredis

import (
	"context"

	"github.com/redis/rueidis/rueidiscompat"
)

// XRange returns the entries of a stream from one id to another; it is rueidiscompat's, streamed where the reply is big.
func (a *Adapter) XRange(ctx context.Context, stream, start, stop string) *rueidiscompat.XMessageSliceCmd {
	return fetch(ctx, a, xrange, stream, -1, messageShape, func(c rueidiscompat.Cmdable) *rueidiscompat.XMessageSliceCmd {
		return c.XRange(ctx, stream, start, stop)
	})
}

// XRangeN is XRange for count entries at most.
func (a *Adapter) XRangeN(ctx context.Context, stream, start, stop string, count int64) *rueidiscompat.XMessageSliceCmd {
	return fetch(ctx, a, xrange, stream, atMost(count, entryParts), messageShape, func(c rueidiscompat.Cmdable) *rueidiscompat.XMessageSliceCmd {
		return c.XRangeN(ctx, stream, start, stop, count)
	})
}

// XRevRange returns the entries of a stream from one id to another, the newest first; it is rueidiscompat's, streamed where the reply is big.
func (a *Adapter) XRevRange(ctx context.Context, stream, stop, start string) *rueidiscompat.XMessageSliceCmd {
	return fetch(ctx, a, xrange, stream, -1, messageShape, func(c rueidiscompat.Cmdable) *rueidiscompat.XMessageSliceCmd {
		return c.XRevRange(ctx, stream, stop, start)
	})
}

// XRevRangeN is XRevRange for count entries at most.
func (a *Adapter) XRevRangeN(ctx context.Context, stream, stop, start string, count int64) *rueidiscompat.XMessageSliceCmd {
	return fetch(ctx, a, xrange, stream, atMost(count, entryParts), messageShape, func(c rueidiscompat.Cmdable) *rueidiscompat.XMessageSliceCmd {
		return c.XRevRangeN(ctx, stream, stop, start, count)
	})
}

// entryParts is how many elements an entry of a stream is taken for before it is seen: an id, and some fields with their values.
const entryParts = 8
