package goredis_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/compat/goredis"
	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// rawReplies are replies of both protocols, which must come through as they are.
var rawReplies = map[string]string{
	"simple":            "+OK\r\n",
	"error":             "-ERR some error\r\n",
	"error like MOVED":  "-MOVEDNOT 1 2\r\n",
	"long error":        "-ERR " + strings.Repeat("x", 100_000) + "\r\n",
	"integer":           ":-42\r\n",
	"null":              "_\r\n",
	"null string":       "$-1\r\n",
	"null array":        "*-1\r\n",
	"boolean":           "#t\r\n",
	"double":            ",-inf\r\n",
	"big number":        "(3492890328409238509324850943850943825024385\r\n",
	"empty string":      "$0\r\n\r\n",
	"string":            "$12\r\n$6\r\nFORGED\r\n\r\n",
	"long string":       redistest.Bulk(strings.Repeat("0123456789", 200_000)),
	"verbatim":          "=8\r\ntxt:some\r\n",
	"blob error":        "!9\r\nERR error\r\n",
	"empty array":       "*0\r\n",
	"array":             "*3\r\n$1\r\na\r\n:1\r\n$-1\r\n",
	"nested":            "*2\r\n*2\r\n*0\r\n*1\r\n+x\r\n%1\r\n$1\r\nk\r\n~2\r\n:1\r\n:2\r\n",
	"map":               "%2\r\n+a\r\n:1\r\n+b\r\n_\r\n",
	"empty map":         "%0\r\n",
	"set":               "~2\r\n$1\r\na\r\n$0\r\n\r\n",
	"attribute":         "|1\r\n+ttl\r\n:3600\r\n*2\r\n:1\r\n|1\r\n+a\r\n*0\r\n:2\r\n",
	"deep":              strings.Repeat("*1\r\n", 1000) + ":1\r\n",
	"error in an array": "*2\r\n-ERR no\r\n!2\r\nno\r\n",
	"many":              "*10000\r\n" + strings.Repeat("$7\r\nelement\r\n", 10_000),
}

func fakeClient(t *testing.T, fake *redistest.Fake) rueidis.Client {
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{fake.Addr()}, ForceSingleClient: true, DisableCache: true, BlockingPoolSize: 1})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}

func TestDoRawReplies(t *testing.T) {
	for name, reply := range rawReplies {
		t.Run(name, func(t *testing.T) {
			redistest.NoLeak(t)
			fake := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
				switch {
				case cmd[0] == "ECHO":
					c.Write(redistest.Bulk(cmd[1]))
				case cmd[0] == "PUSHED":
					c.Write(">2\r\n$7\r\nmessage\r\n$5\r\nhello\r\n" + reply)
				case cmd[0] == "SLICED" && len(reply) < 10_000:
					c.WriteSlice(reply, 1, 0)
				case cmd[0] == "SLICED":
					c.WriteSlice(reply, 10_007, 0)
				default:
					c.Write(reply)
				}
			})
			a := goredis.NewAdapter(fakeClient(t, fake))
			ctx := newContext(t)
			for _, cmd := range []string{"PLAIN", "PUSHED", "SLICED"} {
				got := a.DoRaw(ctx, cmd, "k")
				require.NoError(t, got.Err(), cmd)
				require.True(t, reply == string(got.Val()), "%s: %.100q", cmd, got.Val())
				var b bytes.Buffer
				written := a.DoRawWriteTo(ctx, &b, cmd, "k")
				require.NoError(t, written.Err())
				require.EqualValues(t, len(reply), written.Val())
				require.True(t, reply == b.String())
			}
			hundredMore(t, a)
			require.LessOrEqual(t, fake.Conns(), 6, "the connection is kept")
		})
	}
}

func TestDoRawBroken(t *testing.T) {
	for _, r := range []struct {
		name, reply string
		is          error
	}{
		{"no type", "?\r\n", rueidisstream.ErrProtocol},
		{"a length that is none", "$x\r\n", rueidisstream.ErrProtocol},
		{"no length", "$\r\n", rueidisstream.ErrProtocol},
		{"a length below -1", "*-2\r\n", rueidisstream.ErrProtocol},
		{"a length that is too long", "*" + strings.Repeat("1", 40) + "\r\n", rueidisstream.ErrProtocol},
		{"a length beyond all", "%9223372036854775807\r\n", rueidisstream.ErrProtocol},
		{"no CR", "$12\n", rueidisstream.ErrProtocol},
		{"streamed", "$?\r\n;1\r\na\r\n;0\r\n", rueidisstream.ErrProtocol},
		{"too deep", strings.Repeat("*1\r\n", 2000) + ":1\r\n", rueidisstream.ErrTooBig},
		{"cut in a header", "*2\r\n$1", io.ErrUnexpectedEOF},
		{"cut in a string", "$1000\r\nabc", io.ErrUnexpectedEOF},
		{"cut in an array", "*2\r\n:1\r\n", io.ErrUnexpectedEOF},
		{"cut at once", "", io.ErrUnexpectedEOF},
	} {
		t.Run(r.name, func(t *testing.T) {
			redistest.NoLeak(t)
			fake := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
				if cmd[0] == "ECHO" {
					c.Write(redistest.Bulk(cmd[1]))
					return
				}
				c.Write(r.reply)
				c.Cut()
			})
			a := goredis.NewAdapter(fakeClient(t, fake))
			ctx := newContext(t)
			for range 3 {
				got := a.DoRaw(ctx, "GET", "k")
				require.ErrorIs(t, got.Err(), r.is)
				require.True(t, got.Err() != io.EOF)
				require.LessOrEqual(t, len(got.Val()), len(r.reply))
				require.True(t, strings.HasPrefix(r.reply, string(got.Val())), "%q", got.Val())
			}
			hundredMore(t, a)
		})
	}
}

// failing is a writer that takes n bytes.
type failing struct {
	n     int
	err   error
	short bool
}

var errSink = errors.New("the sink is full")

func (f *failing) Write(p []byte) (int, error) {
	n := min(f.n, len(p))
	f.n -= n
	if n < len(p) && !f.short {
		return n, f.err
	}
	return n, nil
}

// Whatever the writer does, what follows on the client is right.
func TestDoRawWriteToFails(t *testing.T) {
	bothProtocols(t, func(t *testing.T, client rueidis.Client) {
		ctx := newContext(t)
		a := goredis.NewAdapter(client)
		for _, size := range []int{100, 3 << 20} {
			value := strings.Repeat("$6\r\nFORGED\r\n", size/12)
			require.NoError(t, a.Set(ctx, "k", value, 0).Err())
			for _, n := range []int{0, 1, 5, 50} {
				got := a.DoRawWriteTo(ctx, &failing{n: n, err: errSink}, "GET", "k")
				require.True(t, got.Err() == errSink, got.Err())
				require.EqualValues(t, n, got.Val())
				got = a.DoRawWriteTo(ctx, &failing{n: n, short: true}, "GET", "k")
				require.True(t, got.Err() == io.ErrShortWrite, got.Err())
				require.EqualValues(t, n, got.Val())
			}
			require.Panics(t, func() { a.DoRawWriteTo(ctx, panicking{}, "GET", "k") })
			hundredMore(t, a)
		}
	})
}

type panicking struct{}

func (panicking) Write([]byte) (int, error) { panic("the writer's") }

func TestDoRawArguments(t *testing.T) {
	redistest.NoLeak(t)
	fake := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) { c.Write(redistest.Array(redistest.Bulks(cmd...)...)) })
	a := goredis.NewAdapter(fakeClient(t, fake))
	ctx := newContext(t)
	n, s, f, at, d, yes := 7, "pointed at", 1.5, time.Date(2024, 1, 2, 3, 4, 5, 6, time.UTC), 3*time.Microsecond, true
	i8, i16, i32, i64, u, u8, u16, u32, u64, up, f32 := int8(-1), int16(2), int32(3), int64(4), uint(5), uint8(6), uint16(7), uint32(8), uint64(9), uintptr(10), float32(0.25)
	for _, r := range []struct {
		arg  any
		want string
	}{
		{nil, ""}, {"text", "text"}, {[]byte(binary), binary}, {n, "7"}, {i8, "-1"}, {i16, "2"}, {i32, "3"}, {i64, "4"}, {u, "5"}, {u8, "6"},
		{u16, "7"}, {u32, "8"}, {u64, "9"}, {up, "10"}, {f32, "0.25"}, {1e21, "1000000000000000000000"}, {true, "1"}, {false, "0"},
		{at, "2024-01-02T03:04:05.000000006Z"}, {d, "3000"}, {net.IPv4(1, 2, 3, 4).To4(), "\x01\x02\x03\x04"}, {marshaled("m"), "<m>"},
		{&s, s}, {&n, "7"}, {&i8, "-1"}, {&i16, "2"}, {&i32, "3"}, {&i64, "4"}, {&u, "5"}, {&u8, "6"}, {&u16, "7"}, {&u32, "8"}, {&u64, "9"},
		{&up, "10"}, {&f, "1.5"}, {&f32, "0.25"}, {&yes, "1"}, {&at, "2024-01-02T03:04:05.000000006Z"}, {&d, "3000"},
		{(*int)(nil), "0"}, {(*string)(nil), ""}, {(*time.Time)(nil), "0001-01-01T00:00:00Z"},
	} {
		got := a.DoRaw(ctx, "CMD", r.arg)
		require.NoError(t, got.Err())
		require.Equal(t, redistest.Array(redistest.Bulks("CMD", r.want)...), string(got.Val()), "%T", r.arg)
	}
	require.EqualError(t, a.DoRaw(ctx, "CMD", struct{}{}).Err(), "redis: can't marshal struct {} (implement encoding.BinaryMarshaler)")
	require.ErrorIs(t, a.DoRaw(ctx, "CMD", marshaled("")).Err(), errSink)
	require.ErrorContains(t, a.DoRaw(ctx).Err(), "no command")
	for _, cmd := range []string{"subscribe k", "PSUBSCRIBE k", "MONITOR", "hello 3", "RESET", "QUIT", "SYNC", "PSYNC ? -1", "CLIENT reply OFF"} {
		var args []any
		for _, w := range strings.Fields(cmd) {
			args = append(args, w)
		}
		n := len(fake.Commands())
		require.ErrorIs(t, a.DoRaw(ctx, args...).Err(), rueidisstream.ErrUnsupported, cmd)
		require.Len(t, fake.Commands(), n)
	}
}

type marshaled string

func (m marshaled) MarshalBinary() ([]byte, error) {
	if m == "" {
		return nil, errSink
	}
	return []byte("<" + m + ">"), nil
}

// A connection that was changed is not given to others.
func TestDoRawState(t *testing.T) {
	redistest.NoLeak(t)
	a := goredis.NewAdapter(redistest.NewClient(t, redistest.Shared(t), poolOfOne))
	ctx := newContext(t)
	require.NoError(t, a.Set(ctx, "k", "of database 0", 0).Err())
	for _, cmd := range [][]any{{"SELECT", 3}, {"MULTI"}, {"WATCH", "k"}, {"CLIENT", "SETNAME", "x"}} {
		require.Equal(t, "+OK\r\n", string(a.DoRaw(ctx, cmd...).Val()))
		require.Equal(t, redistest.Bulk("of database 0"), string(a.DoRaw(ctx, "GET", "k").Val()))
		require.NotEqual(t, redistest.Bulk("x"), string(a.DoRaw(ctx, "CLIENT", "GETNAME").Val()))
	}
	hundredMore(t, a)
}

// The context ends a wait, and its own error comes.
func TestDoRawContext(t *testing.T) {
	redistest.NoLeak(t)
	a := goredis.NewAdapter(redistest.NewClient(t, redistest.Shared(t)))
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	require.True(t, a.DoRaw(ctx, "BLPOP", "nothing", 10).Err() == context.DeadlineExceeded)
	require.True(t, a.DoRaw(ctx, "GET", "nothing").Err() == context.DeadlineExceeded)
	require.True(t, a.GetToBuffer(ctx, "nothing", nil).Err() == context.DeadlineExceeded)
	_, _, err := a.GetReader(ctx, "nothing")
	require.True(t, err == context.DeadlineExceeded)
	require.True(t, a.WithStreamFrom(0).SMembers(ctx, "nothing").Err() == context.DeadlineExceeded)
	hundredMore(t, a)
}

// After a restart of the server one call may fail, for each connection that lies in the pool, and the next is right.
func TestDoRawAfterRestart(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.Standalone(t)
	a := goredis.NewAdapter(redistest.NewClient(t, srv))
	ctx := newContext(t)
	hundredMore(t, a)
	srv.Restart(t)
	if err := a.DoRaw(ctx, "PING").Err(); err != nil {
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	}
	require.Eventually(t, func() bool { return a.Ping(ctx).Err() == nil }, 10*time.Second, 10*time.Millisecond)
	hundredMore(t, a)
}

// Raw commands find their node, by whatever word their key is, and follow a slot that moves.
func TestDoRawCluster(t *testing.T) {
	redistest.NoLeak(t)
	cluster := redistest.NewCluster(t)
	a := goredis.NewAdapter(cluster.NewClient(t))
	ctx := newContext(t)
	raw := func(want string, args ...any) {
		t.Helper()
		got := a.DoRaw(ctx, args...)
		require.NoError(t, got.Err())
		require.Equal(t, want, string(got.Val()), "%v", args)
	}
	for i := range 30 {
		key := "key:" + strconv.Itoa(i)
		raw("+OK\r\n", "set", key, i)
		raw(redistest.Bulk(strconv.Itoa(i)), "GET", key)
		raw(redistest.Bulk("int"), "OBJECT", "ENCODING", key)
		raw(redistest.Bulk(strconv.Itoa(i)), "EVAL", "return redis.call('get', KEYS[1])", 1, key)
		raw(redistest.Bulk("x"), "EVAL", "return 'x'", 0)
		raw(":0\r\n", "BITOP", "NOT", "{"+key+"}not", "{"+key+"}bit")
		raw("_\r\n", "XREAD", "COUNT", 1, "STREAMS", "stream:"+key, 0)
	}
	raw("+PONG\r\n", "PING")
	slot := cluster.Slot(t, "moving")
	raw("+OK\r\n", "SET", "moving", "value")
	from := cluster.NodeOf(t, slot)
	to := cluster.Nodes[0]
	if to.Addr == from.Addr {
		to = cluster.Nodes[1]
	}
	cluster.StartMove(t, slot, to)
	raw(redistest.Bulk("value"), "GET", "moving")
	cluster.MoveKeys(t, slot, to, "moving")
	raw(redistest.Bulk("value"), "GET", "moving") // by ASK
	raw(":6\r\n", "APPEND", "moving", "!")
	cluster.FinishMove(t, slot, to)
	raw(redistest.Bulk("value!"), "GET", "moving") // by MOVED, and then at once
	raw(redistest.Bulk("value!"), "GET", "moving")
	var b bytes.Buffer
	require.EqualValues(t, 12, a.DoRawWriteTo(ctx, &b, "GET", "moving").Val(), fmt.Sprintf("%q", b.String()))
	hundredMore(t, a)
}

func TestRawResults(t *testing.T) {
	raw := new(goredis.RawCmd)
	raw.SetVal([]byte("+OK\r\n"))
	raw.SetErr(errSink)
	val, err := raw.Bytes()
	require.Equal(t, "+OK\r\n", string(val))
	require.Equal(t, errSink, err)
	written := new(goredis.RawWriteToCmd)
	written.SetVal(5)
	written.SetErr(errSink)
	n, err := written.Result()
	require.EqualValues(t, 5, n)
	require.Equal(t, errSink, err)
}

// A cluster's error that is none of MOVED and ASK comes through, whatever its length; a cut one is an error.
func TestDoRawClusterErrors(t *testing.T) {
	redistest.NoLeak(t)
	long := "-ERR " + strings.Repeat("x", 600_000) + "\r\n"
	var fake *redistest.Fake
	fake = redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
		host, port, _ := net.SplitHostPort(fake.Addr())
		switch {
		case cmd[0] == "CLUSTER":
			c.Write(redistest.Array(redistest.Array(":0\r\n", ":16383\r\n", redistest.Array(redistest.Bulk(host), ":"+port+"\r\n", redistest.Bulk("id")))))
		case cmd[0] == "ECHO":
			c.Write(redistest.Bulk(cmd[1]))
		case cmd[0] == "LONG":
			c.Write(long)
		case cmd[0] == "CUT":
			c.Write("-ERR cu")
			c.Cut()
		case cmd[0] == "MOVED":
			c.Write("-MOVED 1 127.0.0.1:1\r\n")
		case cmd[0] == "ODD":
			c.Write("-MOVED somewhere\r\n")
		default:
			c.Write("_\r\n")
		}
	})
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{fake.Addr()}, DisableCache: true})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	a := goredis.NewAdapter(client)
	ctx := newContext(t)
	require.Equal(t, rueidis.ClientModeCluster, client.Mode())
	require.True(t, long == string(a.DoRaw(ctx, "LONG", "k").Val()))
	require.ErrorIs(t, a.DoRaw(ctx, "CUT", "k").Err(), io.ErrUnexpectedEOF)
	require.Equal(t, "-MOVED 1 127.0.0.1:1\r\n", string(a.DoRaw(ctx, "MOVED", "k").Val()), "in the end it is the reply")
	require.Equal(t, "-MOVED somewhere\r\n", string(a.DoRaw(ctx, "ODD", "k").Val()))
	require.True(t, a.DoRawWriteTo(ctx, &failing{err: errSink}, "LONG", "k").Err() == errSink)
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	require.True(t, a.DoRaw(short, "MOVED", "k").Err() == context.DeadlineExceeded)
	hundredMore(t, a)
}
