package rueidisstream

import (
	"context"
	"iter"

	"github.com/redis/rueidis"
)

// Do sends cmd and returns a Reader of its reply, as soon as the first byte of it is there: it is client.Do for replies that
// need not fit into memory. As with http.Client.Do, check the error, then Close the Reader.
//
//	r, err := rueidisstream.Do(ctx, client, client.B().Get().Key("video").Build())
//	if err != nil { ... }
//	defer r.Close()
//	_, err = r.WriteTo(w)
//
// A reply that is an error or a null is returned as error, unwrapped: *rueidis.RedisError or rueidis.Nil. The context rules
// until Close. The command is consumed.
func Do(ctx context.Context, client rueidis.Client, cmd rueidis.Completed, opts ...Option) (*Reader, error) {
	r := new(Reader)
	if err := r.open(ctx, client, cmd, newConfig(opts)); err != nil {
		return nil, err
	}
	return r, nil
}

// open makes r stand on the reply.
func (r *Reader) open(ctx context.Context, client rueidis.Client, cmd rueidis.Completed, cfg config) error {
	cmds := [1]rueidis.Completed{cmd}
	s, err := open(ctx, route{client: client}, cmds[:], cfg)
	if err != nil {
		return err
	}
	for try := 0; ; try++ {
		own := s.ownReply()
		if own == nil {
			r.s, r.started = s, true
			return nil
		}
		if sent, err := s.redirected(client, try, own); err != nil {
			s.release()
			return err
		} else if !sent {
			if err := s.close(); err != nil {
				return err
			}
			return own
		}
	}
}

// Values returns the elements of the reply to cmd, one by one while they arrive: of an array, set or map, its elements; a
// reply that is a scalar is one element. The command is sent when the iterator is ranged over, and that can be done once.
//
//	for v, err := range rueidisstream.Values(ctx, client, client.B().Smembers().Key("big").Build()) {
//		if err != nil { return err }
//		use(v.Bytes())
//	}
//
// At most one error comes, as the last thing. A reply that is an error or a null is that error, unwrapped.
//
// Elements are valid only until the next iteration or call; copy with String or Append.
func Values(ctx context.Context, client rueidis.Client, cmd rueidis.Completed, opts ...Option) iter.Seq2[Value, error] {
	cfg, used := newConfig(opts), false
	return func(yield func(Value, error) bool) {
		if used {
			yield(Value{}, ErrReused)
			return
		}
		used = true
		values(ctx, client, cmd, cfg, yield)
	}
}

// values sends cmd and yields what Values does.
func values(ctx context.Context, client rueidis.Client, cmd rueidis.Completed, cfg config, yield func(Value, error) bool) {
	var r Reader
	if err := r.open(ctx, client, cmd, cfg); err != nil {
		cfg.size.notStreamed(err)
		yield(Value{}, err)
		return
	}
	defer r.Close() // also when the loop's body breaks, panics, or ends the goroutine
	cfg.size.streamed(r.Header().Len)
	for v, err := range r.Values() {
		if !yield(v, err) || err != nil {
			return
		}
	}
	if err := r.Close(); err != nil {
		yield(Value{}, err)
	}
}

// Pairs returns the elements of the reply to cmd by twos, as Values does one by one: those of a map, of an array of even
// length or of an array of arrays of two, so that HGETALL, CONFIG GET, ZRANGE WITHSCORES or XRANGE give the same pairs under RESP2
// and RESP3. Another shape is ErrShape.
//
// Pairs are valid only until the next iteration or call; copy with String or Append.
func Pairs(ctx context.Context, client rueidis.Client, cmd rueidis.Completed, opts ...Option) iter.Seq2[Pair, error] {
	cfg, used := newConfig(opts), false
	return func(yield func(Pair, error) bool) {
		if used {
			yield(Pair{}, ErrReused)
			return
		}
		used = true
		pairs(ctx, client, cmd, cfg, yield)
	}
}

// pairs sends cmd and yields what Pairs does.
func pairs(ctx context.Context, client rueidis.Client, cmd rueidis.Completed, cfg config, yield func(Pair, error) bool) {
	var r Reader
	if err := r.open(ctx, client, cmd, cfg); err != nil {
		cfg.size.notStreamed(err)
		yield(Pair{}, err)
		return
	}
	defer r.Close() // also when the loop's body breaks, panics, or ends the goroutine
	if cfg.size.small > 0 {
		nested, _ := r.startPairs() // an error comes again
		cfg.size.streamed(pairsOf(r.Header(), nested))
	}
	for p, err := range r.Pairs() {
		if !yield(p, err) || err != nil {
			return
		}
	}
	if err := r.Close(); err != nil {
		yield(Pair{}, err)
	}
}

// pairsOf returns how many pairs an aggregate has, which may be arrays of two; -1 where the protocol does not say.
func pairsOf(h Header, nested bool) int64 {
	if nested || h.Len < 0 {
		return h.Len
	}
	return h.Len / 2
}
