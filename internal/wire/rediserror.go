package wire

import (
	"encoding/binary"
	"errors"
	"strings"

	"github.com/redis/rueidis"
)

// RedisError returns what client.Do returns for an error reply of that text: a *rueidis.RedisError, which only rueidis can
// make. It makes one from the bytes that RedisMessage.CacheMarshal would have written: 7 bytes of time to live, the type byte,
// the length in 8 bytes, the text. Should a version of rueidis not take them, the error is a plain one with that text.
func RedisError(text string) error {
	m, raw := message(text)
	if raw == nil {
		return errors.New(strings.TrimPrefix(text, "ERR "))
	}
	text = strings.TrimPrefix(text, "ERR ") // as RedisMessage.Error does
	if err, ok := m.Error().(*rueidis.RedisError); ok && err.Error() == text {
		return err
	}
	return errors.New(text)
}

// RawError is RedisError with the text as the server has sent it, which is what DoStream returns: with the prefix "ERR ".
func RawError(text string) error {
	if _, raw := message(text); raw != nil && raw.Error() == text {
		return raw
	}
	return errors.New(text)
}

// message makes the reply, and the same as an error; nil if rueidis does not take it.
func message(text string) (*rueidis.RedisMessage, *rueidis.RedisError) {
	const ttl, typ, size = 7, 1, 8
	b := make([]byte, ttl+typ+size, ttl+typ+size+len(text))
	b[ttl] = '-'
	binary.BigEndian.PutUint64(b[ttl+typ:], uint64(len(text)))
	b = append(b, text...)
	m := new(rueidis.RedisMessage)
	if u, ok := any(m).(unmarshaler); ok && u.CacheUnmarshalView(b) == nil {
		return m, (*rueidis.RedisError)(m)
	}
	return m, nil
}

type unmarshaler interface{ CacheUnmarshalView(buf []byte) error }
