package goredis

import (
	"encoding"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/rueidisx/rueidisx/internal/wire"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// wordsOf returns the words of a command, as go-redis writes its arguments.
func wordsOf(args []any) ([]string, error) {
	words := make([]string, len(args))
	for i, arg := range args {
		word, err := wordOf(arg)
		if err != nil {
			return nil, err
		}
		words[i] = word
	}
	return words, nil
}

func wordOf(arg any) (string, error) {
	switch v := arg.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case []byte:
		return string(v), nil
	case int:
		return signed(int64(v)), nil
	case int8:
		return signed(int64(v)), nil
	case int16:
		return signed(int64(v)), nil
	case int32:
		return signed(int64(v)), nil
	case int64:
		return signed(v), nil
	case uint:
		return unsigned(uint64(v)), nil
	case uint8:
		return unsigned(uint64(v)), nil
	case uint16:
		return unsigned(uint64(v)), nil
	case uint32:
		return unsigned(uint64(v)), nil
	case uint64:
		return unsigned(v), nil
	case uintptr:
		return unsigned(uint64(v)), nil
	case float32:
		return float(float64(v)), nil
	case float64:
		return float(v), nil
	case bool:
		if v {
			return "1", nil
		}
		return "0", nil
	case time.Time:
		return v.Format(time.RFC3339Nano), nil
	case time.Duration:
		return signed(v.Nanoseconds()), nil
	}
	if word, ok := pointed(arg); ok {
		return word, nil
	}
	switch v := arg.(type) {
	case encoding.BinaryMarshaler:
		b, err := v.MarshalBinary()
		return string(b), err
	case net.IP:
		return string(v), nil
	}
	return "", fmt.Errorf("redis: can't marshal %T (implement encoding.BinaryMarshaler)", arg)
}

// pointed is wordOf for pointers; a nil one is as its zero value.
func pointed(arg any) (word string, ok bool) {
	var at any
	switch v := arg.(type) {
	case *string:
		at = value(v)
	case *int:
		at = value(v)
	case *int8:
		at = value(v)
	case *int16:
		at = value(v)
	case *int32:
		at = value(v)
	case *int64:
		at = value(v)
	case *uint:
		at = value(v)
	case *uint8:
		at = value(v)
	case *uint16:
		at = value(v)
	case *uint32:
		at = value(v)
	case *uint64:
		at = value(v)
	case *uintptr:
		at = value(v)
	case *float32:
		at = value(v)
	case *float64:
		at = value(v)
	case *bool:
		at = value(v)
	case *time.Time:
		at = value(v)
	case *time.Duration:
		at = value(v)
	default:
		return "", false
	}
	word, err := wordOf(at)
	return word, err == nil
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func signed(n int64) string { return strconv.FormatInt(n, 10) }

func unsigned(n uint64) string { return strconv.FormatUint(n, 10) }

func float(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

var errNoCommand = errors.New("compat/goredis: no command")

// refuse returns an error for a command after which its reply is not to be had, or is not the next one.
func refuse(words []string) error {
	if len(words) == 0 || words[0] == "" {
		return errNoCommand
	}
	if name := wire.Refused(words); name != "" {
		return fmt.Errorf("compat/goredis: %s: %w", strings.ToUpper(name), rueidisstream.ErrUnsupported)
	}
	return nil
}

// keepsConn tells whether the connection is the same for others after the command: not another database or user, nor with a
// transaction that was begun.
func keepsConn(words []string) bool {
	switch strings.ToUpper(words[0]) {
	case "WATCH", "MULTI", "ASKING":
		return false
	}
	return !wire.Alters(words)
}

// rawKey returns the first key of a command, by which it is routed on a cluster, or "". Where it is mistaken, MOVED says so, and a
// command without a key goes anywhere.
func rawKey(words []string) string {
	at := 1
	switch strings.ToUpper(words[0]) {
	case "EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO", "FCALL", "FCALL_RO":
		at = 3
		if len(words) > 2 && words[2] == "0" {
			return ""
		}
	case "MEMORY", "OBJECT", "BITOP", "XINFO", "XGROUP", "DEBUG",
		"ZINTER", "ZUNION", "ZDIFF", "SINTERCARD", "ZINTERCARD", "LMPOP", "ZMPOP", "MSETEX":
		at = 2
	case "BLMPOP", "BZMPOP":
		at = 3
	case "XREAD", "XREADGROUP":
		at = len(words)
		for i := range words {
			if strings.EqualFold(words[i], "STREAMS") {
				at = i + 1
				break
			}
		}
	}
	if at < len(words) {
		return words[at]
	}
	return ""
}
