package resp

import "errors"

// The type bytes of RESP.
const (
	Array      = '*'
	BigNumber  = '('
	BlobError  = '!'
	Bool       = '#'
	BulkString = '$'
	Double     = ','
	Error      = '-'
	Integer    = ':'
	Map        = '%'
	Null       = '_' // the nulls of RESP2 ($-1 and *-1) become this one
	Set        = '~'
	Simple     = '+'
	Verbatim   = '='

	attribute = '|'
	push      = '>'
	chunk     = ';'
	end       = '.'
)

// Unknown is the length of a string or an aggregate that the protocol does not announce.
const Unknown = -1

var (
	// ErrProtocol is what bytes that are not RESP give.
	ErrProtocol = errors.New("malformed RESP")
	// ErrTooBig is what an element gives that is larger or deeper than the limits allow.
	ErrTooBig = errors.New("element exceeds the limit")
	// ErrShape is what an element of another shape than asked for gives.
	ErrShape = errors.New("reply has another shape")
)

// IsAggregate tells whether elements of this kind hold other elements.
func IsAggregate(kind byte) bool { return kind == Array || kind == Map || kind == Set }

// isString tells whether elements of this kind announce their bytes by a length.
func isString(kind byte) bool { return kind == BulkString || kind == Verbatim || kind == BlobError }

// isAside tells whether elements of this kind stand beside the reply and not in it.
func isAside(kind byte) bool { return kind == push || kind == attribute }
