package rueidisstream_test

import (
	"context"
	"strings"
	"testing"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// asked is a client that notes what it sends, but for the PINGs around a stream.
type asked struct {
	rueidis.Client
	cmds []string
}

func (a *asked) note(cmd rueidis.Completed) {
	a.cmds = append(a.cmds, strings.Join(cmd.Commands(), " "))
}

// names returns the commands without their arguments.
func (a *asked) names() (names []string) {
	for _, cmd := range a.cmds {
		name, _, _ := strings.Cut(cmd, " ")
		names = append(names, name)
	}
	return names
}

func (a *asked) Do(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	a.note(cmd)
	return a.Client.Do(ctx, cmd)
}

func (a *asked) DoMultiStream(ctx context.Context, multi ...rueidis.Completed) rueidis.MultiRedisResultStream {
	a.note(multi[1])
	return a.Client.DoMultiStream(ctx, multi...)
}

// What a key was the last time decides what is asked, and never what comes out.
func TestKeySizeRemembered(t *testing.T) {
	type step struct {
		size int
		cmds []string
	}
	for name, steps := range map[string][]step{
		"Members": {
			{3, []string{"SSCAN k 0 COUNT 11"}},
			{3, []string{"SRANDMEMBER k 11"}},
			{10, []string{"SRANDMEMBER k 11"}},
			{11, []string{"SRANDMEMBER k 11", "SMEMBERS k"}},
			{11, []string{"SMEMBERS k"}},
			{600, []string{"SMEMBERS k"}},
			{10, []string{"SMEMBERS k"}},
			{10, []string{"SRANDMEMBER k 11"}},
			{0, []string{"SRANDMEMBER k 11"}},
			{600, []string{"SRANDMEMBER k 11", "SMEMBERS k"}},
			{0, []string{"SMEMBERS k"}},
			{1, []string{"SRANDMEMBER k 11"}},
		},
		"Fields": {
			{3, []string{"HSCAN k 0 COUNT 11"}},
			{3, []string{"HSCAN k 0 COUNT 11"}},
			{600, []string{"HSCAN k 0 COUNT 11", "HGETALL k"}},
			{600, []string{"HGETALL k"}},
			{11, []string{"HGETALL k"}},
			{10, []string{"HGETALL k"}},
			{10, []string{"HSCAN k 0 COUNT 11"}},
			{600, []string{"HSCAN k 0 COUNT 11", "HGETALL k"}},
		},
		"Scores": {
			{3, []string{"ZRANGE k 0 10 WITHSCORES"}},
			{10, []string{"ZRANGE k 0 10 WITHSCORES"}},
			{11, []string{"ZRANGE k 0 10 WITHSCORES", "ZRANGE k 0 -1 WITHSCORES"}},
			{11, []string{"ZRANGE k 0 -1 WITHSCORES"}},
			{10, []string{"ZRANGE k 0 -1 WITHSCORES"}},
			{10, []string{"ZRANGE k 0 10 WITHSCORES"}},
		},
		"Elements": {
			{10, []string{"LRANGE k 0 10"}},
			{11, []string{"LRANGE k 0 10", "LRANGE k 0 -1"}},
			{11, []string{"LRANGE k 0 -1"}},
			{10, []string{"LRANGE k 0 -1"}},
			{10, []string{"LRANGE k 0 10"}},
		},
		"Entries": {
			{10, []string{"XRANGE k - + COUNT 11"}},
			{11, []string{"XRANGE k - + COUNT 11", "XRANGE k - +"}},
			{11, []string{"XRANGE k - +"}},
			{10, []string{"XRANGE k - +"}},
			{10, []string{"XRANGE k - + COUNT 11"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			bothProtocols(t, func(t *testing.T, c rueidis.Client) {
				ctx := caseContext(t)
				for _, k := range collections {
					if k.name != name {
						continue
					}
					key := t.Name() // of which nothing is known
					for i, s := range steps {
						require.NoError(t, c.Do(ctx, c.B().Del().Key(key).Build()).Error())
						k.fill(t, c, key, s.size)
						spy := &asked{Client: c}
						got, err := all(t, k.read(ctx, spy, key, rueidisstream.WithSmall(10)))
						require.NoError(t, err)
						want := k.want(t, c, key)
						if k.ordered {
							require.Equal(t, want, got, i)
						} else {
							require.ElementsMatch(t, want, got, i)
						}
						for j := range spy.cmds {
							spy.cmds[j] = strings.ReplaceAll(spy.cmds[j], key, "k")
						}
						require.Equal(t, s.cmds, spy.cmds, i)
					}
				}
			})
		})
	}
}

// A key that becomes another type is the server's error, as it is to a call that knows nothing.
func TestKeySizeOfWrongType(t *testing.T) {
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		ctx := caseContext(t)
		for _, k := range collections {
			for _, size := range []int{1, small + 1} {
				key := t.Name() + k.name
				require.NoError(t, c.Do(ctx, c.B().Del().Key(key).Build()).Error())
				k.fill(t, c, key, size)
				for range 2 {
					got, err := all(t, k.read(ctx, c, key))
					require.NoError(t, err)
					require.Len(t, got, size)
				}
				require.NoError(t, c.Do(ctx, c.B().Set().Key(key).Value("v").Build()).Error())
				for range 2 {
					_, err := all(t, k.read(ctx, c, key))
					require.IsType(t, new(rueidis.RedisError), err, k.name)
					require.EqualError(t, err, c.Do(ctx, k.oracle(c, key)).Error().Error(), k.name)
				}
			}
		}
	})
}

// A server that does not have the command for elements at random is asked for them once. One that cannot be reached is another thing.
func TestKeySizeWithoutCommand(t *testing.T) {
	page := redistest.Array(redistest.Bulk("0"), redistest.Array(redistest.Bulks("a", "b")...))
	f := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
		if strings.HasSuffix(cmd[0], "SCAN") {
			c.Write(page)
		} else {
			c.Write("-ERR unknown command\r\n")
		}
	})
	c := caseDial(t, f.Addr(), casePool(1), func(o *rueidis.ClientOption) { o.DisableCache = true })
	members := collections[0]
	spy := &asked{Client: c}
	for i := range 4 {
		if i == 1 { // a context that is done is no answer
			ctx, cancel := context.WithCancel(caseContext(t))
			cancel()
			_, err := all(t, members.read(ctx, c, t.Name()))
			require.ErrorIs(t, err, context.Canceled)
		}
		got, err := all(t, members.read(caseContext(t), spy, t.Name()))
		require.NoError(t, err)
		require.Equal(t, []string{"a", "b"}, got)
	}
	require.Equal(t, []string{"SSCAN", "SRANDMEMBER", "SSCAN", "SSCAN", "SSCAN"}, spy.names())
}

// A compact encoding comes whole, whatever was asked for: that is one question each time.
func TestKeySizeOfCompactKeys(t *testing.T) {
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		ctx := caseContext(t)
		key := t.Name()
		require.NoError(t, c.Do(ctx, c.B().Sadd().Key(key).Member(strings.Fields("1 2 3 4 5 6 7 8 9 10 11 12")...).Build()).Error())
		spy := &asked{Client: c}
		for range 3 {
			got, err := all(t, collections[0].read(ctx, spy, key, rueidisstream.WithSmall(4)))
			require.NoError(t, err)
			require.Len(t, got, 12)
		}
		require.Equal(t, strings.Repeat(" SSCAN "+key+" 0 COUNT 5", 3), " "+strings.Join(spy.cmds, " "))
		// What is known for one limit says nothing of another.
		spy.cmds = nil
		for range 2 {
			_, err := all(t, collections[0].read(ctx, spy, key, rueidisstream.WithSmall(12)))
			require.NoError(t, err)
		}
		require.Equal(t, []string{"SSCAN " + key + " 0 COUNT 13", "SRANDMEMBER " + key + " 13"}, spy.cmds)
		// Without a fast path nothing is learned.
		spy.cmds = nil
		for _, n := range []int{0, 0, 100} {
			_, err := all(t, collections[0].read(ctx, spy, key, rueidisstream.WithSmall(n)))
			require.NoError(t, err)
		}
		require.Equal(t, []string{"SMEMBERS " + key, "SMEMBERS " + key, "SSCAN " + key + " 0 COUNT 101"}, spy.cmds)
	})
}
