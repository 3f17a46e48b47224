package redjet_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/compat/redjet"
	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

func TestArguments(t *testing.T) {
	redistest.NoLeak(t)
	c, f := faked(t, func(c *redistest.FakeConn, _ []string) { c.Write("+OK\r\n") })
	ctx := within(t)
	for _, row := range []struct {
		arg  any
		want string
	}{
		{"s", "s"},
		{[]byte("b\x00"), "b\x00"},
		{-1, "-1"},
		{int8(-8), "-8"},
		{int16(-16), "-16"},
		{int32(-32), "-32"},
		{int64(math.MinInt64), "-9223372036854775808"},
		{uint(1), "1"},
		{uint8(8), "8"},
		{uint16(16), "16"},
		{uint32(32), "32"},
		{uint64(math.MaxUint64), "18446744073709551615"},
		{float32(0.1), "0.1"},
		{2.5, "2.5"},
		{1e21, "1e+21"},
		{true, "true"},
		{false, "false"},
		{nil, "null"},
		{time.Minute, "1m0s"},
		{bytes.NewBufferString("buffer"), "buffer"},
		{redjet.NewLenReader(strings.NewReader("longer than that"), 6), "longer"},
		{iotestReader{iotest.OneByteReader(strings.NewReader("abc")), 3}, "abc"},
		{redjet.NewLenReader(strings.NewReader("x"), 0), ""},
		{[]string{"a"}, `["a"]`},
		{json.RawMessage(`{}`), `{}`},
		{struct{ A int }{1}, `{"A":1}`},
	} {
		require.NoError(t, c.Command(ctx, "any", row.arg).Ok())
		got := f.Commands()
		require.Equal(t, []string{"ANY", row.want}, got[len(got)-1])
	}
	many := make([]any, 100)
	want := []string{"MSET"}
	for i := range many {
		many[i] = i
		b, _ := json.Marshal(i)
		want = append(want, string(b))
	}
	require.NoError(t, c.Command(ctx, "mset", many...).Ok())
	got := f.Commands()
	require.Equal(t, want, got[len(got)-1])
}

type iotestReader struct {
	io.Reader
	n int
}

func (r iotestReader) Len() int { return r.n }

func TestArgumentsThatFail(t *testing.T) {
	redistest.NoLeak(t)
	c, f := faked(t, func(c *redistest.FakeConn, _ []string) { c.Write("+OK\r\n") })
	ctx := within(t)
	broken := errors.New("broken")
	for _, row := range []struct {
		name string
		cmd  string
		args []any
		want string
		is   error
	}{
		{"no JSON", "SET", []any{"k", make(chan int)}, "redjet: SET: argument 2: json: unsupported type: chan int", nil},
		{"not a number", "SET", []any{"k", math.NaN()}, "redjet: SET: argument 2: json: unsupported value: NaN", nil},
		{"no name", "", nil, "redjet: : a command without a name", nil},
		{"UNSUBSCRIBE", "unsubscribe", []any{"c"}, "redjet: UNSUBSCRIBE: a subscription is ended by Close", nil},
		{"no channel", "subscribe", nil, "redjet: SUBSCRIBE: no channel", nil},
		{"a channel that is no JSON", "subscribe", []any{math.Inf(1)}, "redjet: SUBSCRIBE: argument 1: json: unsupported value: +Inf", nil},
		{"short reader", "LPUSH", []any{"k", redjet.NewLenReader(strings.NewReader("abc"), 4)}, "redjet: LPUSH: argument 2: a LenReader of 4 bytes: after 3: unexpected EOF", io.ErrUnexpectedEOF},
		{"broken reader", "LPUSH", []any{"k", redjet.NewLenReader(iotest.ErrReader(broken), 4)}, "redjet: LPUSH: argument 2: a LenReader of 4 bytes: after 0: broken", broken},
		{"negative reader", "LPUSH", []any{"k", redjet.NewLenReader(nil, -1)}, "redjet: LPUSH: argument 2: a LenReader of -1 bytes", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := c.Pipeline(ctx, nil, "SET", "before", "x")
			p = c.Pipeline(ctx, p, row.cmd, row.args...)
			p = c.Pipeline(ctx, p, "SET", "after", "x")
			require.False(t, p.Next())
			err := p.Ok()
			require.EqualError(t, err, row.want)
			require.Equal(t, row.want, p.Error())
			if row.is != nil {
				require.ErrorIs(t, err, row.is)
			}
			require.NoError(t, p.Close())
			require.Empty(t, f.Commands(), "nothing is sent")
		})
	}
	for _, cmd := range [][]any{
		{"APPEND", "k"},
		{"SET", "k", "NX"},
		{"SET", "k", "GET"},
		{"SET", "k", "EX", "0"},
		{"SET", "k", "EX", "x"},
		{"SET", "k", "PXAT", "1"},
		{"SET", "k", "EX", "9223372036854775807"},
		{"SET", "k", "PX", "9223372036854775807"},
		{"SET", "k", "EX", "10", "NX"},
		{"SET", "k", "KEEPTTL", "x", "y"},
	} {
		args := append([]any{cmd[1], redjet.NewLenReader(neverRead{t}, redjet.MaxBuffered+1)}, cmd[2:]...)
		err := c.Command(ctx, cmd[0].(string), args...).Ok()
		require.ErrorContains(t, err, "LenReaders of more than 67108864 bytes", cmd)
		require.Empty(t, f.Commands(), "nothing is sent")
	}
	require.Error(t, c.Pipeline(ctx, c.Pipeline(ctx, nil, "MULTI"), "SET", "k", redjet.NewLenReader(neverRead{t}, redjet.MaxBuffered+1)).Ok())
	hundred(t, c)
}

type neverRead struct{ t *testing.T }

func (r neverRead) Read([]byte) (int, error) {
	r.t.Error("read")
	return 0, io.EOF
}

func TestLenReader(t *testing.T) {
	const size = 1 << 20
	for _, resp2 := range []bool{true, false} {
		t.Run(protocol(resp2), func(t *testing.T) {
			redistest.NoLeak(t)
			c, ctx := server(t, resp2), within(t)
			ttl := func() int {
				t.Helper()
				n, err := c.Command(ctx, "PTTL", "k").Int()
				require.NoError(t, err)
				return n
			}
			soon := time.Now().Add(time.Hour)
			for _, row := range []struct {
				name string
				cmd  func(v any) *redjet.Pipeline
				ttl  int
			}{
				{"SET", func(v any) *redjet.Pipeline { return c.Command(ctx, "set", "k", v) }, -1},
				{"EX", func(v any) *redjet.Pipeline { return c.Command(ctx, "SET", "k", v, "ex", 100) }, 100_000},
				{"PX", func(v any) *redjet.Pipeline { return c.Command(ctx, "SET", "k", v, "PX", "100000") }, 100_000},
				{"KEEPTTL", func(v any) *redjet.Pipeline { return c.Command(ctx, "SET", "k", v, "keepttl") }, 100_000},
				{"EXAT", func(v any) *redjet.Pipeline { return c.Command(ctx, "SET", "k", v, "EXAT", soon.Unix()) }, 3_600_000},
				{"PXAT", func(v any) *redjet.Pipeline { return c.Command(ctx, "SET", "k", v, "PXAT", soon.UnixMilli()) }, 3_600_000},
				{"SETEX", func(v any) *redjet.Pipeline { return c.Command(ctx, "SETEX", "k", 100, v) }, 100_000},
				{"PSETEX", func(v any) *redjet.Pipeline { return c.Command(ctx, "PSETEX", "k", 100_000, v) }, 100_000},
				{"XX", func(v any) *redjet.Pipeline { return c.Command(ctx, "SET", "k", v, "XX") }, -1},
			} {
				for _, n := range []int{0, 1, 256<<10 - 1, 256 << 10, 256<<10 + 1, size} {
					value := strings.Repeat("0123456789abcdef", n/16+1)[:n]
					require.NoError(t, row.cmd(redjet.NewLenReader(strings.NewReader(value+"and more"), n)).Ok(), "%s %d", row.name, n)
					got, err := c.Command(ctx, "GET", "k").String()
					require.NoError(t, err)
					require.True(t, value == got, "%s %d", row.name, n)
					if row.ttl < 0 {
						require.Equal(t, -1, ttl(), "%s %d", row.name, n)
					} else {
						require.InDelta(t, row.ttl, ttl(), 30_000, "%s %d", row.name, n)
					}
					require.NoError(t, row.cmd(strings.NewReader(value)).Close(), "by Close")
				}
			}
			require.ErrorIs(t, c.Command(ctx, "SET", "k", strings.NewReader(strings.Repeat("x", size)), "NX").Ok(), redjet.ErrNil)
			require.ErrorContains(t, c.Command(ctx, "SET", "k", strings.NewReader(strings.Repeat("x", size)), "EX", 0).Ok(), "ERR invalid expire time")
			require.NoError(t, c.Command(ctx, "SET", "k", strings.NewReader(strings.Repeat("x", size)), "PXAT", 1).Ok(), "which deletes it")
			require.Equal(t, -2, ttl())
			require.ErrorContains(t, c.Command(ctx, "SETEX", "k", 100, strings.NewReader(strings.Repeat("x", size)), "more").Ok(), "wrong number of arguments")

			// In a pipeline it takes its turn.
			p := c.Pipeline(ctx, nil, "SET", "k", "old")
			p = c.Pipeline(ctx, p, "APPEND", "k", "er")
			p = c.Pipeline(ctx, p, "SET", "k", strings.NewReader(strings.Repeat("x", size)))
			p = c.Pipeline(ctx, p, "APPEND", "k", bytes.NewBufferString(strings.Repeat("y", size)))
			p = c.Pipeline(ctx, p, "SET", "k", redjet.NewLenReader(strings.NewReader("short"), size))
			p = c.Pipeline(ctx, p, "GETRANGE", "k", size-1, size)
			var short error
			var got []string
			for p.Next() {
				s, err := p.String()
				if err != nil {
					short, s = err, "error"
				}
				got = append(got, s)
			}
			require.Equal(t, []string{"OK", "5", "OK", "2097152", "error", "xy"}, got)
			require.ErrorIs(t, short, io.ErrUnexpectedEOF)
			require.ErrorContains(t, short, "redjet: SET: ")
			require.NoError(t, p.Close())

			// In a transaction it is a part of it.
			p = c.Pipeline(ctx, nil, "MULTI")
			p = c.Pipeline(ctx, p, "SET", "k", strings.NewReader(strings.Repeat("z", size)))
			p = c.Pipeline(ctx, p, "EXEC")
			require.Equal(t, "OK[] QUEUED[] 1[1] OK[]", elements(p))

			require.ErrorContains(t, c.Command(ctx, "SET", "k", redjet.NewLenReader(iotest.ErrReader(errors.New("broken")), size)).Ok(), "broken")
			cancelled, cancel := context.WithCancel(ctx)
			cancel()
			require.ErrorIs(t, c.Command(cancelled, "SET", "k", strings.NewReader(strings.Repeat("z", size))).Ok(), context.Canceled)
			keys, err := c.Command(ctx, "KEYS", "*").Strings()
			require.NoError(t, err)
			require.Equal(t, []string{"k"}, keys, "nothing is left behind")
			hundred(t, c)
		})
	}
	t.Run("an error of the server", func(t *testing.T) {
		redistest.NoLeak(t)
		c, _ := faked(t, func(c *redistest.FakeConn, _ []string) { c.Write("-OOM no memory\r\n") })
		err := c.Command(within(t), "SET", "k", strings.NewReader(strings.Repeat("x", size))).Ok()
		require.IsType(t, (*redjet.Error)(nil), err)
		require.EqualError(t, err, "OOM no memory")
		hundred(t, c)
	})
}

// TestLenReaderMemory is that of a big file, which never stands in memory, neither on its way in nor out.
func TestLenReaderMemory(t *testing.T) {
	if raceEnabled {
		t.Log("the race detector changes what memory is taken; make test runs this without it")
	}
	const size = 128 << 20
	c, ctx := server(t, false), within(t)
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	var peak atomic.Uint64
	done := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak.Store(max(peak.Load(), m.HeapAlloc))
			}
		}
	}()
	require.NoError(t, c.Command(ctx, "SET", "big", redjet.NewLenReader(zeros{}, size)).Ok())
	n, err := c.Command(ctx, "GET", "big").WriteTo(io.Discard)
	require.NoError(t, err)
	require.EqualValues(t, size, n)
	n, err = rueidisstream.Copy(ctx, c.Client(), c.Client().B().Get().Key("big").Build(), io.Discard)
	require.NoError(t, err)
	require.EqualValues(t, size, n)
	require.NoError(t, c.Command(ctx, "DEL", "big").Close())
	close(done)
	<-stopped
	if !raceEnabled {
		require.Less(t, int64(peak.Load())-int64(before.HeapAlloc), int64(32<<20))
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// TestCommandAllocations is that a Command costs one allocation, two with a context that can end, and a long pipeline no more for each command.
func TestCommandAllocations(t *testing.T) {
	if raceEnabled {
		t.Log("the race detector allocates; make test runs this without it")
		return
	}
	c, ctx := server(t, false), within(t)
	require.NoError(t, c.Command(ctx, "SET", "k", strings.Repeat("x", 1000)).Ok())
	for most, ctx := range map[float64]context.Context{1: context.Background(), 2: ctx} { // one that can end is wrapped, see internal/wire
		single := testing.AllocsPerRun(200, func() {
			_, _ = c.Command(ctx, "GET", "k").WriteTo(io.Discard)
		})
		require.LessOrEqual(t, single, most)
	}
	ctx = context.Background() // to watch one that can end costs three more if a read waits
	pipeline := func(n int) float64 {
		return testing.AllocsPerRun(200, func() {
			var p *redjet.Pipeline
			for range n {
				p = c.Pipeline(ctx, p, "GET", "k")
			}
			for p.Next() {
				_, _ = p.WriteTo(io.Discard)
			}
			_ = p.Close()
		})
	}
	few, many := pipeline(10), pipeline(500)
	require.LessOrEqual(t, many, few+2)
	require.LessOrEqual(t, few, 8.0)
}
