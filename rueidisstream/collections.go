package rueidisstream

import (
	"context"
	"iter"
	"slices"
	"strconv"

	"github.com/redis/rueidis"
)

// NOTE: A collection is read in one of three ways, each in a file of its own:
//
//	small.go   the key is small: one command through client.Do, its reply is whole in memory
//	do.go      the key is big: one command, its reply is streamed by Values or Pairs
//	scan.go    WithScan: many commands, each for a page; entries.go and keys.go have the pages that are not by cursor of one key
//
// keysize.go decides between the first two, by what the key was the last time.

// Members returns the members of the set at key, as SMEMBERS gives them, in no order. A missing key has none.
//
//	for member, err := range rueidisstream.Members(ctx, client, "tags") {
//		if err != nil { return err }
//		use(member.Bytes())
//	}
//
// A small set comes by one command over the connection that the client's callers share (WithSmall); a larger one is
// streamed, by SMEMBERS, over a connection of its own. Either way it is what the set held at one moment; WithScan reads by
// pages instead. Commands are sent when the iterator is ranged over, and that can be done once: then ErrReused.
//
// At most one error comes, as the last thing. A key of another type is the server's error, unwrapped.
//
// Members are valid only until the next iteration or call; copy with String or Append.
func Members(ctx context.Context, client rueidis.Client, key string, opts ...Option) iter.Seq2[Value, error] {
	return once(opts, aSet, key, func(cfg config, opts []Option, yield func(Value, error) bool) {
		if count := cfg.scan; count > 0 {
			scanValues(ctx, newCursorScan(client, key, opts, 1, func(c rueidis.Client, cursor uint64) rueidis.Completed {
				return c.B().Sscan().Key(key).Cursor(cursor).Count(count).Build()
			}).next, yield)
			return
		}
		if cfg.size.next() == isSmall {
			cmd := client.B().Srandmember().Key(key).Count(cfg.small + 1).Build()
			if smallValues(ctx, client, cmd, upTo(cfg.small), cfg, yield) {
				return
			}
		}
		if cfg.size.next() == isOpen {
			cmd := client.B().Sscan().Key(key).Cursor(0).Count(cfg.small + 1).Build()
			if smallValues(ctx, client, cmd, whole, cfg, yield) {
				return
			}
		}
		values(ctx, client, client.B().Smembers().Key(key).Build(), cfg, yield)
	})
}

// Fields returns the fields of the hash at key with their values, as HGETALL gives them, in no order. It is else as Members
// is.
//
// Pairs are valid only until the next iteration or call; copy with String or Append.
func Fields(ctx context.Context, client rueidis.Client, key string, opts ...Option) iter.Seq2[Pair, error] {
	return once(opts, aHash, key, func(cfg config, opts []Option, yield func(Pair, error) bool) {
		if count := cfg.scan; count > 0 {
			scanPairs(ctx, newCursorScan(client, key, opts, 2, func(c rueidis.Client, cursor uint64) rueidis.Completed {
				return c.B().Hscan().Key(key).Cursor(cursor).Count(count).Build()
			}).next, yield)
			return
		}
		if cfg.size.next() == isOpen {
			cmd := client.B().Hscan().Key(key).Cursor(0).Count(cfg.small + 1).Build()
			if smallPairs(ctx, client, cmd, whole, cfg, yield) {
				return
			}
		}
		pairs(ctx, client, client.B().Hgetall().Key(key).Build(), cfg, yield)
	})
}

// Scores returns the members of the sorted set at key with their scores, in the order of ZRANGE 0 -1 WITHSCORES, from the lowest score
// up; with WithScan in no order. Value.AsFloat64 of the pair's Value is the score: a double under RESP3, a string under RESP2
// and WithScan. It is else as Members is.
//
// Pairs are valid only until the next iteration or call; copy with String or Append.
func Scores(ctx context.Context, client rueidis.Client, key string, opts ...Option) iter.Seq2[Pair, error] {
	return once(opts, aSortedSet, key, func(cfg config, opts []Option, yield func(Pair, error) bool) {
		if count := cfg.scan; count > 0 {
			scanPairs(ctx, newCursorScan(client, key, opts, 2, func(c rueidis.Client, cursor uint64) rueidis.Completed {
				return c.B().Zscan().Key(key).Cursor(cursor).Count(count).Build()
			}).next, yield)
			return
		}
		if cfg.size.next() == isOpen {
			cmd := client.B().Zrange().Key(key).Min("0").Max(strconv.FormatInt(cfg.small, 10)).Withscores().Build()
			if smallPairs(ctx, client, cmd, upToPairs(cfg.small), cfg, yield) {
				return
			}
		}
		pairs(ctx, client, client.B().Zrange().Key(key).Min("0").Max("-1").Withscores().Build(), cfg, yield)
	})
}

// Elements returns the elements of the list at key from head to tail, as LRANGE 0 -1 gives them. It is else as Members is.
//
// Elements are valid only until the next iteration or call; copy with String or Append.
func Elements(ctx context.Context, client rueidis.Client, key string, opts ...Option) iter.Seq2[Value, error] {
	return once(opts, aList, key, func(cfg config, opts []Option, yield func(Value, error) bool) {
		if cfg.scan > 0 {
			s := &listScan{pinned: pinned{client: client, key: key}, opts: opts, count: cfg.scan}
			scanValues(ctx, s.next, yield)
			return
		}
		if cfg.size.next() == isOpen {
			cmd := client.B().Lrange().Key(key).Start(0).Stop(cfg.small).Build()
			if smallValues(ctx, client, cmd, upTo(cfg.small), cfg, yield) {
				return
			}
		}
		values(ctx, client, client.B().Lrange().Key(key).Start(0).Stop(-1).Build(), cfg, yield)
	})
}

// Entries returns the entries of the stream at key by their ids, as XRANGE - + gives them: each is an array of its id and an
// array of its fields and values.
//
//	for entry, err := range rueidisstream.Entries(ctx, client, "log") {
//		...
//		for part, err := range entry.Values() { ... } // the id, then the fields, for part.Pairs
//	}
//
// It is else as Members is.
//
// Entries are valid only until the next iteration or call; copy with String or Append.
func Entries(ctx context.Context, client rueidis.Client, key string, opts ...Option) iter.Seq2[Value, error] {
	return once(opts, aStream, key, func(cfg config, opts []Option, yield func(Value, error) bool) {
		if cfg.scan > 0 {
			s := &entryScan{pinned: pinned{client: client, key: key}, opts: opts, count: cfg.scan}
			scanValues(ctx, s.next, yield)
			return
		}
		if cfg.size.next() == isOpen {
			cmd := client.B().Xrange().Key(key).Start("-").End("+").Count(cfg.small + 1).Build()
			if smallValues(ctx, client, cmd, upTo(cfg.small), cfg, yield) {
				return
			}
		}
		values(ctx, client, client.B().Xrange().Key(key).Start("-").End("+").Build(), cfg, yield)
	})
}

// once makes an iterator of read that can be ranged over once. kind and key are what is read.
func once[T any](opts []Option, kind collection, key string, read func(cfg config, opts []Option, yield func(T, error) bool)) iter.Seq2[T, error] {
	opts, used := slices.Clone(opts), false // the caller may append to the same array for its next call
	return func(yield func(T, error) bool) {
		if used {
			var none T
			yield(none, ErrReused)
			return
		}
		used = true
		cfg := newConfig(opts)
		cfg.expect(kind, key)
		read(cfg, opts, yield)
	}
}
