package rueidisstream

import "github.com/rueidisx/rueidisx/internal/resp"

// Kind is the type of an element: the type byte that RESP puts before it. See the protocol specification,
// https://redis.io/docs/latest/develop/reference/protocol-spec/. The zero Kind is no element.
type Kind byte

// The kinds of elements. Push data, attributes and the chunks of streamed replies never come out.
const (
	KindString    Kind = resp.BulkString
	KindSimple    Kind = resp.Simple
	KindVerbatim  Kind = resp.Verbatim // without its prefix "txt:" or "mkd:"
	KindInteger   Kind = resp.Integer
	KindDouble    Kind = resp.Double
	KindBigNumber Kind = resp.BigNumber
	KindBool      Kind = resp.Bool // its bytes are 1 or 0
	KindNull      Kind = resp.Null // of either protocol
	KindError     Kind = resp.Error
	KindBlobError Kind = resp.BlobError
	KindArray     Kind = resp.Array
	KindSet       Kind = resp.Set
	KindMap       Kind = resp.Map
)

// String returns the kind's name in the protocol specification.
func (k Kind) String() string {
	switch k {
	case KindString:
		return "bulk string"
	case KindSimple:
		return "simple string"
	case KindVerbatim:
		return "verbatim string"
	case KindInteger:
		return "integer"
	case KindDouble:
		return "double"
	case KindBigNumber:
		return "big number"
	case KindBool:
		return "boolean"
	case KindNull:
		return "null"
	case KindError:
		return "simple error"
	case KindBlobError:
		return "bulk error"
	case KindArray:
		return "array"
	case KindSet:
		return "set"
	case KindMap:
		return "map"
	}
	return "invalid"
}

// IsAggregate tells whether elements of this kind hold other elements: arrays, sets and maps.
func (k Kind) IsAggregate() bool { return resp.IsAggregate(byte(k)) }

// Header says where a Reader stands.
type Header struct {
	Kind  Kind
	Depth int   // 0 for the reply itself, 1 for its elements, and so on
	Len   int64 // bytes of a scalar; elements of an aggregate, two for each pair of a map; -1 where the protocol does not say
}
