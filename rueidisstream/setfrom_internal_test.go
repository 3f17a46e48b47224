package rueidisstream

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
)

// awkwardKeys are keys whose hash tag, or the lack of it, is easily mistaken.
var awkwardKeys = []string{
	"plain", "{a}b", "a{b}c", "{}b", "{}{a}", "a{", "a}b", "{", "}", "}{", "{}", "", "{{a}}", "{{a", "a{}", "a{}b{c}",
	"a\x00\xff\r\n ", "\xff}\x00", "ключ", "key with spaces", strings.Repeat("long", 500), strings.Repeat("}", 300),
}

// The temporary key is in the slot of the key, as the server sees it, and a new one each time.
func TestTempKey(t *testing.T) {
	redistest.NoLeak(t)
	cluster := redistest.NewCluster(t)
	ofCluster := cluster.NewClient(t)
	ofNode := redistest.NewClient(t, redistest.Shared(t))
	for _, key := range awkwardKeys {
		temp := tempKey(ofCluster, key)
		require.Equal(t, cluster.Slot(t, key), cluster.Slot(t, temp), "%q: %q", key, temp)
		require.NotEqual(t, temp, tempKey(ofCluster, key))
		temp = tempKey(ofNode, key)
		require.Equal(t, cluster.Slot(t, key), cluster.Slot(t, temp), "%q: %q, of a client without slots", key, temp)
		require.Contains(t, temp, key)
	}
	ctx := context.Background()
	for _, key := range awkwardKeys {
		n, err := SetFrom(ctx, ofCluster, key, strings.NewReader(key+" has it"))
		require.NoError(t, err, "%q", key)
		require.EqualValues(t, len(key)+7, n)
		n, err = SetFrom(ctx, ofCluster, key, strings.NewReader(key+" has it again"), WithKeepTTL())
		require.NoError(t, err, "%q", key)
		require.EqualValues(t, len(key)+13, n)
		s, err := OpenString(ctx, ofCluster, key)
		require.NoError(t, err, "%q", key)
		require.NoError(t, iotest.TestReader(s, []byte(key+" has it again")))
	}
}

// The slot moves to another node, with the keys in it, after the first round trip, and before the last step.
func TestSlotMovesBelowSetFrom(t *testing.T) {
	redistest.NoLeak(t)
	cluster := redistest.NewCluster(t)
	c := cluster.NewClient(t)
	ctx := context.Background()
	slot := cluster.Slot(t, "k")
	move := func() {
		to := cluster.Nodes[0]
		if cluster.NodeOf(t, slot) == to {
			to = cluster.Nodes[1]
		}
		cluster.MoveSlot(t, slot, to)
	}
	_, err := SetFrom(ctx, c, "k", strings.NewReader("old"), WithExpire(time.Hour))
	require.NoError(t, err)
	const size = 2 * appendsAhead * appendBytes
	read := 0
	n, err := SetFrom(ctx, c, "k", readFunc(func(p []byte) (int, error) {
		if read == size/2 || read == size {
			move()
		}
		if read == size {
			return 0, io.EOF
		}
		read += len(p)
		return len(p), nil
	}), WithExpire(time.Minute))
	require.NoError(t, err)
	require.EqualValues(t, size, n)
	s, err := OpenString(ctx, c, "k")
	require.NoError(t, err)
	require.EqualValues(t, size, s.Size())
	moved := false
	m, err := s.WriteTo(writeFunc(func(p []byte) (int, error) {
		if !moved {
			moved = true
			move()
		}
		return len(p), nil
	}))
	require.NoError(t, err)
	require.EqualValues(t, size, m)
	left, err := c.Do(ctx, c.B().Pttl().Key("k").Build()).AsInt64()
	require.NoError(t, err)
	require.InDelta(t, 60000, left, 30000)
}

// The places that are looked at: each in its own 32nd, within the value, for every size from the first that has them.
func TestSamplePlaces(t *testing.T) {
	require.Empty(t, samplePlaces(0))
	require.Empty(t, samplePlaces(2*edgeBytes))
	sizes := []int64{64 << 10, 512<<20 - 1, 1 << 40}
	for size := int64(2*edgeBytes + 1); size < 3000; size++ {
		sizes = append(sizes, size)
	}
	for _, size := range sizes {
		places := samplePlaces(size)
		require.Len(t, places, samples)
		for i, at := range places {
			require.GreaterOrEqual(t, at, size*int64(i)/samples)
			require.LessOrEqual(t, at+sampleBytes, size*int64(i+1)/samples)
		}
	}
}

// An r that has little is sent, and the temporary key's expiry renewed, before anything is full.
func TestSetFromRenews(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.Shared(t)
	c := redistest.NewClient(t, srv)
	s := setter{ctx: context.Background(), client: c, key: "k", temp: "temp", renew: time.Nanosecond}
	seen := 0
	require.ErrorIs(t, s.run(readFunc(func(p []byte) (int, error) {
		seen++
		switch {
		case seen > 1 && seen <= 10:
			require.EqualValues(t, seen-1, s.n)
			ttl, err := c.Do(s.ctx, c.B().Pttl().Key("temp").Build()).AsInt64()
			require.NoError(t, err)
			require.Greater(t, ttl, (tempTTL - 30*time.Second).Milliseconds())
			require.NoError(t, c.Do(s.ctx, c.B().Pexpire().Key("temp").Milliseconds(20000).Build()).Error())
		case seen > 12:
			require.EqualValues(t, 10, s.n, "an r that has nothing renews as well")
			return 0, context.Canceled
		case seen > 10:
			return 0, nil
		}
		p[0] = 'x'
		return 1, nil
	})), context.Canceled)
	require.Equal(t, "0", srv.Do(t, "DBSIZE"))
}

type readFunc func(p []byte) (int, error)

type writeFunc func(p []byte) (int, error)

func (f writeFunc) Write(p []byte) (int, error) { return f(p) }

func (f readFunc) Read(p []byte) (int, error) { return f(p) }
