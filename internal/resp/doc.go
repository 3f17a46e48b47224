// Package resp reads RESP2 and RESP3, the protocol of Redis, piece by piece over a *bufio.Reader.
//
// It follows https://redis.io/docs/latest/develop/reference/protocol-spec/ and, for streamed strings and aggregates,
// attributes and push data, https://github.com/redis/redis-specifications/blob/master/protocol/RESP3.md.
//
// How it is built:
//
//   - window.go: which bytes are in memory, in one piece, without copying them out of the *bufio.Reader where that can be.
//   - header.go, number.go: one header, checked: the type byte, its length or its line.
//   - reader.go: where the Reader stands in a nested reply, by an explicit stack; nothing here recurses.
//   - walk.go: one element from its header to its last byte, kept or dropped.
//   - element.go, split.go: elements whole, as borrowed bytes.
//   - body.go: one string by pieces.
//   - skip.go: leaving elements out, within a limit of bytes.
//
// Both protocols give the same elements: the nulls of RESP2 become RESP3's, a verbatim string loses its prefix "txt:",
// push data and attributes are passed over wherever they stand.
package resp
