package rueidisstream

import (
	"context"
	"fmt"
	"strconv"

	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/internal/resp"
)

// defaultSmall is the default of WithSmall. Medians for sets of 16-byte members, in parts of the time of
// client.Do(SMEMBERS).AsStrSlice(), for 1 goroutine and for 64 on one client (Redis 7.0.15, benchmarks/results/members-threshold.txt):
//
//	members          10           100          200          300         1000
//	WithSmall(0)    1.06 2.20    0.49 0.88    0.49 0.58    0.50 0.49    0.38 0.62
//	WithSmall(64)   0.87 1.07    1.68 1.53    1.46 0.85    1.43 0.85    0.72 0.64
//	WithSmall(128)  1.09 0.92    0.91 0.91    1.61 1.38    1.57 0.96    0.76 0.54
//	WithSmall(256)  0.86 0.88    0.96 0.77    1.17 0.90    1.68 1.27    0.85 0.64
//	WithSmall(512)  0.83 0.88    0.98 0.71    1.12 0.77    1.26 0.84    0.88 1.11
//
// The machine was busy: differences of a tenth are noise (for ten members all but the first line run the same code). A set of a
// hundred must not cost more than it did, and one of a thousand shall cost clearly less, which leaves 128 and 256. These are of
// times when the first question was asked each time, in vain from the threshold on. Now that sizes remembers what a set was, the
// default has (members-small.txt) 0.95 0.97 for one member, 1.00 0.98 for 10, 0.96 0.87 for 100, 0.82 0.71 for 300, 0.67 0.51 for 1,000.
//
// The first question is SSCAN (HSCAN), since its cost is bounded: 129 members in 6 to 27 µs of the server, whatever the set's
// size. SRANDMEMBER 129 is as fast as SMEMBERS for small sets but took 50 to 330 µs for large ones, so it is for sets that were
// small; SCARD costs small sets a second round trip.
const defaultSmall = 128

// maxSmall lets one more be asked for.
const maxSmall = 1 << 30

// answer takes the reply to the first question apart: the elements, and whether they are all that the key has.
type answer func(reply []rueidis.RedisMessage) (elements []rueidis.RedisMessage, all bool, err error)

// whole is the answer of SSCAN and HSCAN. A scan that begins at 0 and comes back with 0 went through all of the key within one
// command.
func whole(reply []rueidis.RedisMessage) (elements []rueidis.RedisMessage, all bool, err error) {
	if len(reply) != 2 || !reply[0].IsString() || !reply[1].IsArray() {
		return nil, false, errNotPage
	}
	if cursor, _ := reply[0].ToString(); cursor != "0" {
		return nil, false, nil
	}
	elements, err = reply[1].ToArray()
	return elements, true, err
}

// upTo is the answer of commands that were asked for n+1 elements.
func upTo(n int64) answer {
	return func(reply []rueidis.RedisMessage) ([]rueidis.RedisMessage, bool, error) {
		return reply, int64(len(reply)) <= n, nil
	}
}

// upToPairs is upTo for pairs, which RESP2 gives flat.
func upToPairs(n int64) answer {
	return func(reply []rueidis.RedisMessage) ([]rueidis.RedisMessage, bool, error) {
		size := int64(len(reply))
		if size > 0 && !reply[0].IsArray() {
			size /= 2
		}
		return reply, size <= n, nil
	}
}

// smallValues asks cmd over the client's shared connection. If the answer is all of the key, or an error that counts, it yields that
// and returns true.
func smallValues(ctx context.Context, client rueidis.Client, cmd rueidis.Completed, a answer, cfg config, yield func(Value, error) bool) bool {
	elements, all, err := ask(ctx, client, cmd, a, cfg.raw)
	if !cfg.size.answered(int64(len(elements)), all, err) {
		return false
	}
	if err != nil {
		yield(Value{}, err)
		return true
	}
	var room []byte
	for i := range elements {
		var e resp.Element
		if e, room, err = element(&elements[i], room[:0], cfg.limits); err != nil {
			yield(Value{}, err)
			break
		}
		if !yield(Value{e}, nil) {
			break
		}
	}
	return true
}

// smallPairs is smallValues for pairs: elements that follow each other, or arrays of two.
func smallPairs(ctx context.Context, client rueidis.Client, cmd rueidis.Completed, a answer, cfg config, yield func(Pair, error) bool) bool {
	elements, all, err := ask(ctx, client, cmd, a, cfg.raw)
	if !cfg.size.answered(int64(len(elements)/2), all, err) {
		return false
	}
	if err != nil {
		yield(Pair{}, err)
		return true
	}
	for len(elements) > 0 {
		two := elements
		switch {
		case two[0].IsArray():
			two, _ = two[0].ToArray()
			elements = elements[1:]
		case len(two) > 1:
			elements = elements[2:]
		}
		p, err := pair(two, cfg.limits)
		if !yield(p, err) || err != nil {
			break
		}
	}
	return true
}

func pair(two []rueidis.RedisMessage, limits resp.Limits) (Pair, error) {
	if len(two) < 2 {
		return Pair{}, fmt.Errorf("rueidisstream: %w: an odd number of elements", ErrShape)
	}
	key, _, err := element(&two[0], nil, limits)
	if err != nil {
		return Pair{}, err
	}
	value, _, err := element(&two[1], nil, limits)
	if err != nil {
		return Pair{}, err
	}
	return Pair{Value{key}, Value{value}}, nil
}

// ask sends cmd by client.Do.
func ask(ctx context.Context, client rueidis.Client, cmd rueidis.Completed, a answer, raw bool) ([]rueidis.RedisMessage, bool, error) {
	m, err := client.Do(ctx, cmd).ToMessage()
	switch {
	case err == nil:
	case !fromServer(err):
		return nil, false, sendError(ctx, err, false)
	case raw && err != rueidis.Nil:
		own := m // that m is not on the heap for the sake of this
		return nil, false, (*rueidis.RedisError)(&own)
	default:
		return nil, false, err
	}
	reply, err := m.ToArray()
	if err != nil {
		return nil, false, sendError(ctx, err, false)
	}
	return a(reply)
}

// element makes of m what a stream would give. The bytes are those of m, which rueidis has made for this reply alone; those of
// an aggregate are written to room, which is returned.
func element(m *rueidis.RedisMessage, room []byte, limits resp.Limits) (e resp.Element, _ []byte, err error) {
	switch {
	case m.IsArray():
		elements, _ := m.ToArray()
		if room, err = encode(room, elements); err != nil {
			return e, room, err
		}
		e = resp.NewElement(resp.Array, int64(len(elements)), room)
	case m.IsNil():
		e = resp.NewElement(resp.Null, 0, nil)
	case m.IsString(), m.IsFloat64():
		b, err := m.AsBytes()
		if err != nil {
			return e, room, err
		}
		e = resp.NewElement(resp.BulkString, int64(len(b)), b)
		if m.IsFloat64() {
			e = resp.NewElement(resp.Double, int64(len(b)), b)
		}
	default:
		return e, room, errNotElement
	}
	if int64(len(e.Bytes)) > limits.MaxBytes {
		return resp.Element{}, room, fmt.Errorf("rueidisstream: %w: %d bytes, the limit is %d", ErrTooBig, len(e.Bytes), limits.MaxBytes)
	}
	return e, room, nil
}

// encode writes elements in the form that resp.Split reads.
func encode(dst []byte, elements []rueidis.RedisMessage) ([]byte, error) {
	for i := range elements {
		m := &elements[i]
		var err error
		switch {
		case m.IsArray():
			inner, _ := m.ToArray()
			if dst, err = encode(appendHeader(dst, resp.Array, len(inner)), inner); err != nil {
				return dst, err
			}
		case m.IsNil():
			dst = append(dst, "_\r\n"...)
		case m.IsString():
			s, _ := m.ToString()
			dst = append(append(appendHeader(dst, resp.BulkString, len(s)), s...), "\r\n"...)
		default:
			return dst, errNotElement
		}
	}
	return dst, nil
}

func appendHeader(dst []byte, kind byte, n int) []byte {
	return append(strconv.AppendInt(append(dst, kind), int64(n), 10), "\r\n"...)
}

var (
	errNotPage    = fmt.Errorf("rueidisstream: %w: not a cursor and a page of elements", ErrShape)
	errNotElement = fmt.Errorf("rueidisstream: %w: an element of a type that the key cannot have", ErrShape)
)
