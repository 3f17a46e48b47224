package rueidisstream_test

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// C5: a reply of 700 MB meets no time limit, and other commands on the same client do not queue behind it: while it is held half-way,
// unread, they are answered, as many as one likes.
func TestCase_C5_CommandsBesideAHugeReply(t *testing.T) {
	const chunks, chunk, small = 700, 1 << 20, 1000
	const limit = 500 * time.Millisecond
	advProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
		redistest.NoLeak(t)
		body := redistest.Bulk(strings.Repeat("v", chunk))
		f := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
			switch cmd[0] {
			case "LRANGE":
				c.Write(fmt.Sprintf("*%d\r\n", chunks))
				for range chunks {
					c.Write(body)
				}
			case "ECHO":
				c.Write(redistest.Bulk(cmd[1]))
			default:
				c.Write(redistest.Bulk("value of " + cmd[1]))
			}
		})
		c := advClient(t, f.Addr(), speak, advPool(3), func(o *rueidis.ClientOption) { o.ConnWriteTimeout = limit })
		ctx := caseContext(t)
		n := 0
		for v, err := range rueidisstream.Values(ctx, c, c.B().Lrange().Key("huge").Start(0).Stop(-1).Build()) {
			require.NoError(t, err)
			require.Len(t, v.Bytes(), chunk)
			if n++; n != chunks/2 {
				continue
			}
			begin := time.Now()
			var wg sync.WaitGroup
			for g := range 4 {
				wg.Go(func() {
					for i := range small / 4 {
						key := fmt.Sprint(g, ":", i)
						got, err := c.Do(ctx, c.B().Get().Key(key).Build()).ToString()
						if err != nil || got != "value of "+key {
							t.Errorf("beside the stream: %q, %v", got, err)
						}
						if i%10 != 0 || g > 1 { // the pool has two more connections
							continue
						}
						var b strings.Builder
						if _, err := rueidisstream.Copy(ctx, c, c.B().Get().Key(key).Build(), &b); err != nil || b.String() != got {
							t.Errorf("another stream: %q, %v", b.String(), err)
						}
					}
				})
			}
			advEnds(t, "commands beside a stream that is not read", wg.Wait)
			time.Sleep(max(0, 2*limit-time.Since(begin))) // and the stream has been held for longer than the time limit
		}
		require.Equal(t, chunks, n)
		advEcho(t, c, 100)
	})
}

// C9: a slow consumer stops the reading. What it has not taken stays in the server's output buffer, and none of it in the client.
func TestCase_C9_SlowConsumerLeavesTheBacklogToTheServer(t *testing.T) {
	const members, size = 60_000, 1000
	srv := redistest.Standalone(t)
	srv.Do(t, "EVAL", "for i = 1, tonumber(ARGV[1]) do redis.call('RPUSH', KEYS[1], string.rep('m', tonumber(ARGV[2]))) end return 1",
		"1", "list", fmt.Sprint(members), fmt.Sprint(size))
	caseProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
		redistest.NoLeak(t)
		c := redistest.NewClient(t, srv, speak, caseBuffers(64<<10), func(o *rueidis.ClientOption) { o.ClientName = "slow" })
		ctx := caseContext(t)
		caseEchoes(t, c, 10)
		before := caseLive()
		n := 0
		for v, err := range rueidisstream.Values(ctx, c, c.B().Lrange().Key("list").Start(0).Stop(-1).Build()) {
			require.NoError(t, err)
			require.Len(t, v.Bytes(), size)
			if n++; n%1000 != 0 || n > 5000 {
				continue
			}
			time.Sleep(50 * time.Millisecond)
			require.Less(t, caseLive()-before, int64(1<<20), "heap of the client after %d elements", n)
			require.Greater(t, caseBacklog(t, srv, "slow"), int64(members*size/3), "output buffer of the server after %d elements", n)
		}
		require.Equal(t, members, n)
		runtime.KeepAlive(c)
		require.Eventually(t, func() bool { return caseBacklog(t, srv, "slow") == 0 }, 10*time.Second, 10*time.Millisecond, "nothing is left there")
		caseEchoes(t, c, 100)
	})
}

// caseBacklog returns how many bytes wait in the server for the connections of the client of that name.
func caseBacklog(t testing.TB, srv *redistest.Server, name string) (all int64) {
	for line := range strings.Lines(srv.Do(t, "CLIENT", "LIST")) {
		if !strings.Contains(line, " name="+name+" ") {
			continue
		}
		_, omem, _ := strings.Cut(line, " omem=")
		omem, _, _ = strings.Cut(omem, " ")
		n, err := strconv.ParseInt(omem, 10, 64)
		require.NoError(t, err, line)
		all += n
	}
	return all
}

// A3: the value is deleted after chunk 2 of 8. Who reads it by ranges gets an error, and never a clean end; who reads it by one
// command gets all of it.
func TestCase_A3_DeletedAfterTheSecondChunk(t *testing.T) {
	const chunk = 1 << 20
	want := caseRandom(8*chunk, 3)
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		ctx := caseContext(t)
		del := func() { require.NoError(t, c.Do(ctx, c.B().Del().Key("k").Build()).Error()) }
		for name, open := range map[string]func() (io.Reader, error){
			"OpenString": func() (io.Reader, error) { return rueidisstream.OpenString(ctx, c, "k") },
			"sections": func() (io.Reader, error) {
				s, err := rueidisstream.OpenString(ctx, c, "k")
				return io.NewSectionReader(s, 0, int64(len(want))), err
			},
			"Do": func() (io.Reader, error) { return rueidisstream.Do(ctx, c, c.B().Get().Key("k").Build()) },
		} {
			t.Run(name, func(t *testing.T) {
				setString(t, c, "k", want)
				r, err := open()
				require.NoError(t, err)
				got := make([]byte, 2*chunk)
				_, err = io.ReadFull(r, got)
				require.NoError(t, err)
				del()
				rest, err := io.ReadAll(r)
				got = append(got, rest...)
				require.True(t, strings.HasPrefix(want, string(got)), "nothing but the value")
				if name == "Do" {
					require.NoError(t, err)
					require.Len(t, got, len(want))
					require.NoError(t, r.(io.Closer).Close())
				} else {
					require.ErrorIs(t, err, rueidisstream.ErrChanged)
					require.Less(t, len(got), len(want))
				}
				caseEchoes(t, c, 100)
			})
		}
	})
}

// L5: a client that does nothing but stream is not left with a node that does not have the slot any more: the stream is led there, and
// the one after it goes there by itself.
func TestCase_L5_StreamsRefreshTheTopology(t *testing.T) {
	redistest.NoLeak(t)
	cluster := redistest.NewCluster(t)
	slot := cluster.Slot(t, "{w}")
	fillWays(t, cluster.NewClient(t))
	calls := map[string]func(c rueidis.Client) error{
		"Copy": func(c rueidis.Client) error {
			_, err := rueidisstream.Copy(caseContext(t), c, c.B().Get().Key("{w}string").Build(), io.Discard)
			return err
		},
		"Values": func(c rueidis.Client) error {
			got, err := advCollect(t, rueidisstream.Values(caseContext(t), c, c.B().Smembers().Key("{w}set").Build()))
			require.Len(t, got, 1000)
			return err
		},
		"DoMulti": func(c rueidis.Client) error {
			require.Len(t, ofReplies(t, rueidisstream.DoMulti(caseContext(t), c, []rueidis.Completed{
				c.B().Get().Key("{w}string").Build(), c.B().Hgetall().Key("{w}hash").Build(),
			})), 2)
			return nil
		},
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			c := cluster.NewClient(t)
			require.NoError(t, call(c))
			former := cluster.NodeOf(t, slot)
			cluster.MoveSlot(t, slot, another(t, cluster, slot))
			require.NoError(t, call(c))
			require.Eventually(t, func() bool {
				before := errorsOf(t, former)
				require.NoError(t, call(c))
				asked := errorsOf(t, former) != before
				s := c.DoStream(context.Background(), c.B().Get().Key("{w}string").Build())
				_, err := s.WriteTo(io.Discard)
				return !asked && err == nil // rueidis itself, which follows nothing here, knows where to go
			}, 20*time.Second, 50*time.Millisecond, "MOVED again and again")
		})
	}
}

// errorsOf returns how many errors the server has given as replies; "" before Redis 6.2, which does not count them.
func errorsOf(t testing.TB, srv *redistest.Server) string {
	for line := range strings.Lines(srv.Do(t, "INFO", "stats")) {
		if n, ok := strings.CutPrefix(line, "total_error_replies:"); ok {
			return n
		}
	}
	return ""
}

// I3: whoever needs the slot of a key here has the one that the server says, whatever stands between braces.
func TestCase_I3_SlotsOfAwkwardKeys(t *testing.T) {
	redistest.NoLeak(t)
	cluster := redistest.NewCluster(t)
	c := cluster.NewClient(t)
	ctx := caseContext(t)
	keys := []string{"{a}b", "{}b", "a{", "", "a}b{c}d", "{a{b}c}", "}{", "{\x00\xff}\r\n", strings.Repeat("{", 300)}
	var cmds []rueidis.Completed
	var want []string
	for _, key := range keys {
		cmd := c.B().Get().Key(key).Build()
		require.EqualValues(t, cluster.Slot(t, key), cmd.Slot(), "%q", key)
		// Through everything that goes by the slot: a write by a temporary key, ranges, a pinned scan, one bracket, one for each node.
		_, err := rueidisstream.SetFrom(ctx, c, key, strings.NewReader("value of "+key))
		require.NoError(t, err, "%q", key)
		s, err := rueidisstream.OpenString(ctx, c, key)
		require.NoError(t, err, "%q", key)
		require.EqualValues(t, len("value of "+key), s.Size())
		var b strings.Builder
		_, err = rueidisstream.Copy(ctx, c, cmd, &b)
		require.NoError(t, err)
		require.Equal(t, "value of "+key, b.String())
		_, err = all(t, collections[0].read(ctx, c, key, rueidisstream.WithScan(10)))
		require.ErrorContains(t, err, "WRONGTYPE", "from the node that has it")
		cmds, want = append(cmds, c.B().Get().Key(key).Build()), append(want, strconv.Quote("value of "+key))
	}
	require.Equal(t, want, ofReplies(t, rueidisstream.DoMulti(ctx, c, cmds)))
}
