package rueidisstream

import (
	"fmt"
	"iter"
	"strconv"

	"github.com/rueidisx/rueidisx/internal/resp"
)

// Value is one element of a reply, whole. The zero Value is no element.
//
// Its bytes, and those of the Values in it, are borrowed: valid only until the next iteration or call; copy with String or
// Append.
type Value struct{ e resp.Element }

// Pair is two elements of a reply that belong together, such as a field and its value. Both halves are borrowed together: valid
// only until the next iteration or call; copy with String or Append.
type Pair struct{ Key, Value Value }

// Kind returns the type of the element.
func (v Value) Kind() Kind { return Kind(v.e.Kind()) }

// Len returns the number of bytes of a scalar, or of elements of an aggregate: two for each pair of a map.
func (v Value) Len() int64 { return v.e.Len() }

// Bytes returns the bytes of a scalar: a string's own, a number's or an error's text, 1 or 0 for a boolean. It is nil for a
// null or an aggregate. The bytes are valid only until the next iteration or call; copy with String or Append.
func (v Value) Bytes() []byte {
	if v.Kind().IsAggregate() || v.e.Kind() == resp.Null {
		return nil
	}
	return v.e.Bytes
}

// String returns a copy of what Bytes returns.
func (v Value) String() string { return string(v.Bytes()) }

// Append appends what Bytes returns to dst.
func (v Value) Append(dst []byte) []byte { return append(dst, v.Bytes()...) }

// IsNil tells whether the element is a null, of either protocol.
func (v Value) IsNil() bool { return v.e.Kind() == resp.Null }

// Error returns the *rueidis.RedisError of an element that is an error, rueidis.Nil for a null, and else nil, as
// RedisMessage.Error does.
func (v Value) Error() error {
	if isReplyError(v.e.Kind()) {
		return replyError(v.e, false)
	}
	return nil
}

// AsInt64 returns an integer, or the number that a string holds. Errors are those of Error, and those of strconv.ParseInt
// wrapped.
func (v Value) AsInt64() (int64, error) {
	if err := v.scalar(); err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(string(v.e.Bytes), 10, 64)
	return n, v.parseError(err)
}

// AsUint64 is AsInt64 for numbers without a sign.
func (v Value) AsUint64() (uint64, error) {
	if err := v.scalar(); err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(string(v.e.Bytes), 10, 64)
	return n, v.parseError(err)
}

// AsFloat64 returns a double, or the number that a string holds; inf, -inf and nan are understood. Errors are those of Error,
// and those of strconv.ParseFloat wrapped.
func (v Value) AsFloat64() (float64, error) {
	if err := v.scalar(); err != nil {
		return 0, err
	}
	f, err := strconv.ParseFloat(string(v.e.Bytes), 64)
	return f, v.parseError(err)
}

// AsBool returns a boolean, whether an integer is not 0, or whether a string is "OK", as RedisMessage.AsBool does.
func (v Value) AsBool() (bool, error) {
	if err := v.scalar(); err != nil {
		return false, err
	}
	switch v.Kind() {
	case KindBool:
		return v.e.Bytes[0] == '1', nil
	case KindInteger:
		n, err := v.AsInt64()
		return n != 0, err
	case KindString, KindSimple:
		return string(v.e.Bytes) == "OK", nil
	}
	return false, v.shape("a boolean")
}

// Values returns the elements of an aggregate. For anything else it yields one error: that of Error, or ErrShape.
func (v Value) Values() iter.Seq2[Value, error] {
	return func(yield func(Value, error) bool) {
		if err := v.aggregate(); err != nil {
			yield(Value{}, err)
			return
		}
		rest := v.e.Bytes
		for range v.e.Len() {
			var e resp.Element
			e, rest = resp.Split(rest)
			if !yield(Value{e}, nil) {
				return
			}
		}
	}
}

// Pairs returns the elements of an aggregate by twos: those of a map, of an array or set of even length, or of an array of
// arrays of two. For anything else it yields one error: that of Error, or ErrShape.
func (v Value) Pairs() iter.Seq2[Pair, error] {
	return func(yield func(Pair, error) bool) {
		if err := v.aggregate(); err != nil {
			yield(Pair{}, err)
			return
		}
		if v.e.Len() == 0 {
			return
		}
		rest := v.e.Bytes
		if first, _ := resp.Split(rest); v.Kind() != KindMap && isPair(first) {
			for range v.e.Len() {
				var e resp.Element
				if e, rest = resp.Split(rest); !isPair(e) {
					yield(Pair{}, Value{e}.shape("an array of two"))
					return
				}
				key, value := resp.Split(e.Bytes)
				second, _ := resp.Split(value)
				if !yield(Pair{Value{key}, Value{second}}, nil) {
					return
				}
			}
			return
		}
		if v.e.Len()%2 != 0 {
			yield(Pair{}, v.shape("an even number of elements"))
			return
		}
		for range v.e.Len() / 2 {
			var key, value resp.Element
			key, rest = resp.Split(rest)
			value, rest = resp.Split(rest)
			if !yield(Pair{Value{key}, Value{value}}, nil) {
				return
			}
		}
	}
}

func isPair(e resp.Element) bool { return e.Kind() == resp.Array && e.Len() == 2 }

// scalar returns why the element is not one value.
func (v Value) scalar() error {
	if err := v.Error(); err != nil {
		return err
	}
	if v.e.Kind() == 0 || v.Kind().IsAggregate() {
		return v.shape("a scalar")
	}
	return nil
}

// aggregate returns why the element holds no others.
func (v Value) aggregate() error {
	if err := v.Error(); err != nil {
		return err
	}
	if !v.Kind().IsAggregate() {
		return v.shape("an aggregate")
	}
	return nil
}

func (v Value) shape(want string) error {
	return fmt.Errorf("rueidisstream: %w: %s of length %d is not %s", ErrShape, v.Kind(), v.Len(), want)
}

func (v Value) parseError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("rueidisstream: %s: %w", v.Kind(), err)
}
