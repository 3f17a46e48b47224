package redjet

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
)

// TestFirstKey compares with COMMAND GETKEYS.
func TestFirstKey(t *testing.T) {
	srv := redistest.Shared(t)
	for _, line := range []string{
		"GET k", "SET k v", "MGET k l", "MSET k v l w", "HGETALL k", "LRANGE k 0 1", "SORT k BY x GET y", "ZADD k 1 a", "XADD k * f v", "GEOADD k 1 2 m",
		"OBJECT ENCODING k", "MEMORY USAGE k", "XINFO STREAM k", "XGROUP CREATE k g $", "BITOP AND d k l", "ZUNION 2 k l", "ZINTER 2 k l", "ZDIFF 1 k",
		"ZINTERCARD 1 k", "SINTERCARD 1 k", "LMPOP 1 k LEFT", "ZMPOP 1 k MIN", "BLMPOP 1 2 k l LEFT", "BZMPOP 1 1 k MIN", "ZUNIONSTORE d 1 k", "EVAL x 1 k a",
		"EVALSHA x 2 k l", "FCALL f 1 k", "XREAD COUNT 1 BLOCK 5 STREAMS k l 0 0", "XREADGROUP GROUP g c STREAMS k >", "BLPOP k l 1", "PFCOUNT k l",
		"SMISMEMBER k a", "COPY k l", "LCS k l", "BITFIELD k GET u8 0", "RENAME k l", "GETEX k", "EVAL_RO x 1 k",
		"MIGRATE h 1 k 0 1", "MIGRATE h 1  0 1 KEYS k l",
	} {
		words := strings.Split(line, " ")
		key := firstKey(words)
		require.Positive(t, key, line)
		keys := srv.Do(t, append([]string{"COMMAND", "GETKEYS"}, words...)...)
		want, _, _ := strings.Cut(keys, "\n")
		require.Equal(t, want, words[key], line)
	}
	for _, line := range []string{
		"PING", "PING x", "ECHO x", "PUBLISH c m", "SCAN 0", "KEYS *", "INFO all", "CONFIG GET x", "EVAL x 0", "FCALL f 0 a", "GET", "XREAD STREAMS", "XREAD COUNT 1",
		"OBJECT HELP", "MULTI", "EVAL", "MIGRATE h 1  0 1 COPY x",
	} {
		words := strings.Split(line, " ")
		key := firstKey(words)
		require.Zero(t, key, line)
	}
}

// TestReadOnly compares with COMMAND INFO: what is sent again must not write.
func TestReadOnly(t *testing.T) {
	srv := redistest.Shared(t)
	known := 0
	for _, name := range strings.Split(srv.Do(t, "COMMAND", "LIST"), "\n") {
		if upper := strings.ToUpper(name); isReadOnly(upper) {
			known++
			require.Contains(t, strings.Split(srv.Do(t, "COMMAND", "INFO", name), "\n"), "readonly", name)
			require.False(t, isBlocking([]string{upper}), name)
		}
	}
	require.GreaterOrEqual(t, known, 80)
	require.True(t, isBlocking([]string{"BLPOP", "k", "1"}))
	require.True(t, isBlocking([]string{"XREAD", "block", "1", "STREAMS"}))
	require.False(t, isBlocking([]string{"XREAD", "COUNT", "1", "STREAMS"}))
}
