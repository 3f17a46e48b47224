package goredis

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// slotOf is the server's: the key, or what is between its braces.
func TestSlotOf(t *testing.T) {
	for _, r := range []struct {
		key  string
		slot uint16 // of CLUSTER KEYSLOT
	}{
		{"", 0}, {"123456789", 12739}, {"foo", 12182}, {"{foo}bar", 12182}, {"bar{foo}{zap}", 12182}, {"foo{bar", slotOf("foo{bar")},
	} {
		require.Equal(t, r.slot, slotOf(r.key), r.key)
	}
	require.NotEqual(t, slotOf("{}a"), slotOf("{}b"), "nothing between the braces")
	require.NotEqual(t, slotOf("a{"), slotOf("b{"))
	require.Equal(t, slotOf("{"), slotOf("{{}"), "the first { to the first }")
}

func TestSizeHints(t *testing.T) {
	h := new(sizes)
	require.True(t, h.big(about(smembers, "first")), "the first call of a command")
	require.True(t, h.big(about(hgetall, "first")))
	h.learn(about(smembers, "first"), false)
	require.False(t, h.big(about(smembers, "first")))
	require.False(t, h.big(about(smembers, "second")), "as the first was")
	require.True(t, h.big(about(hgetall, "first")), "a command of its own")
	h.learn(about(smembers, "large"), true)
	require.True(t, h.big(about(smembers, "large")))
	require.True(t, h.big(about(smembers, "third")), "as the last was")
	require.False(t, h.big(about(smembers, "first")), "it is known")
	for i := range calm - 1 {
		require.True(t, h.big(about(smembers, "unknown")))
		h.learn(about(smembers, "small "+strconv.Itoa(i)), false)
	}
	require.False(t, h.big(about(smembers, "unknown")), "many small ones")
	require.True(t, h.big(about(smembers, "large")))
	h.learn(about(smembers, "large"), false)
	require.False(t, h.big(about(smembers, "large")), "it became small")
	h.off.Store(true)
	require.False(t, h.big(about(hgetall, "first")))
}

// The strings are what they were made of, whatever is expected, and blocks are few and small.
func TestViews(t *testing.T) {
	for _, r := range []struct {
		name   string
		sizes  []int
		left   int64 // what is said to be left: more, less, or nothing
		blocks int
	}{
		{"as expected", []int{16, 16, 16, 16}, 4, 1},
		{"none", nil, 0, 0},
		{"empty", []int{0, 0, 0}, 3, 0},
		{"more than expected", []int{16, 16, 16}, -1, 3},
		{"growing", []int{1, 10, 100, 1000, 10_000}, 5, 5},
		{"huge", []int{100_000, 1, 100_000, 1}, 4, 1},
		{"hostile", []int{1, 1}, 1 << 62, 1},
	} {
		t.Run(r.name, func(t *testing.T) {
			var w views
			var got []string
			blocks := 0
			room := 0
			for i, n := range r.sizes {
				before := w.block.Cap() - w.block.Len()
				got = append(got, w.add([]byte(strings.Repeat(strconv.Itoa(i), n)), max(r.left-int64(i)-1, 0)))
				if n > 0 && n < ownString && before < n {
					blocks++
					room = max(room, w.block.Cap())
				}
			}
			require.LessOrEqual(t, blocks, r.blocks)
			require.LessOrEqual(t, room, 2*laterBlock)
			for i, n := range r.sizes {
				require.Equal(t, strings.Repeat(strconv.Itoa(i), n), got[i])
			}
		})
	}
}

func TestGrow(t *testing.T) {
	var s []int
	for i := range 200_000 {
		s = append(grow(s, int64(200_000-i)), i)
	}
	for i, v := range s {
		require.Equal(t, i, v)
	}
	require.Less(t, cap(s), 300_000)
	s = nil
	for i := range 100 {
		s = append(grow(s, -5), i) // more than the header said
	}
	require.Len(t, s, 100)
}

func TestBetween(t *testing.T) {
	for _, r := range [][3]int64{{0, 9, 10}, {0, -1, -1}, {-5, -1, 5}, {-5, 5, -1}, {5, 1, 0}, {-1, -5, 0}, {0, 1<<63 - 1, -1}, {-1 << 63, -1, -1}} {
		require.Equal(t, r[2], between(r[0], r[1]), r)
	}
	require.EqualValues(t, 20, atMost(10, 2))
	require.EqualValues(t, -1, atMost(-1, 2))
	require.EqualValues(t, -1, atMost(1<<62, 2))
	require.EqualValues(t, -1, limit(0, 0, 1))
	require.EqualValues(t, 0, limit(1, 0, 1))
}

func TestRawKey(t *testing.T) {
	for cmd, key := range map[string]string{
		"get k": "k", "PING": "", "eval script 1 k": "k", "EVAL script 0": "", "EVALSHA sha 0 arg": "", "MEMORY USAGE k": "k", "object encoding k": "k",
		"XREAD COUNT 1 streams k 0": "k", "XREADGROUP GROUP g c": "", "ZUNION 1 k": "k", "BLMPOP 0 1 k LEFT": "k", "BITOP NOT k l": "k",
	} {
		require.Equal(t, key, rawKey(strings.Fields(cmd)), cmd)
	}
}
