package rueidisstream_test

import (
	"context"
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

// first calls f once, before the first question of that name is asked.
type first struct {
	rueidis.Client
	name string
	f    func()
}

func (c *first) Do(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	if f := c.f; f != nil && cmd.Commands()[0] == c.name {
		c.f = nil
		f()
	}
	return c.Client.Do(ctx, cmd)
}

// user returns a client of a user of its own who may do everything but that. It empties the server.
func user(t *testing.T, c rueidis.Client, not string) rueidis.Client {
	t.Helper()
	name := strings.ReplaceAll(t.Name(), "/", "-") + not
	err := c.Do(caseContext(t), c.B().Arbitrary("ACL", "SETUSER", name, "reset", "on", "nopass", "~*", "+@all", not).Build()).Error()
	require.NoError(t, err)
	t.Cleanup(func() { c.Do(context.Background(), c.B().Arbitrary("ACL", "DELUSER", name).Build()) })
	return caseDial(t, redistest.Shared(t).Addr, casePool(1), func(o *rueidis.ClientOption) {
		o.DisableCache, o.Username, o.Password = true, name, "any"
	})
}

// Of several calls at a time that ask for what the server refuses, none has the refusal for its result.
func TestKeySizeRefusedAtTheSameTime(t *testing.T) {
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		key, limited := t.Name(), user(t, c, "-srandmember")
		fillSet(t, c, key, 3)
		read := func(c rueidis.Client) {
			got, err := all(t, collections[0].read(caseContext(t), c, key))
			require.NoError(t, err)
			require.Len(t, got, 3)
		}
		read(limited) // it is small
		asked := false
		read(&first{limited, "SRANDMEMBER", func() { asked = true; read(limited) }})
		require.True(t, asked)
	})
}

// What the key has to do with, and not the command, leaves what is known of the key as it is.
func TestKeySizeAfterErrors(t *testing.T) {
	for _, refusal := range []string{"WRONGTYPE no", "CLUSTERDOWN no"} {
		t.Run(refusal, func(t *testing.T) {
			page := redistest.Array(redistest.Bulk("0"), redistest.Array(redistest.Bulks("a", "b")...))
			members := redistest.Array(redistest.Bulks("a", "b")...)
			refuse := false
			f := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
				switch {
				case refuse:
					c.Write("-" + refusal + "\r\n")
				case cmd[0] == "SSCAN":
					c.Write(page)
				default:
					c.Write(members)
				}
			})
			c := caseDial(t, f.Addr(), casePool(1), func(o *rueidis.ClientOption) { o.DisableCache, o.DisableRetry = true, true })
			spy := &asked{Client: c}
			for i := range 4 {
				refuse = i == 2
				got, err := all(t, collections[0].read(caseContext(t), spy, t.Name()))
				if refuse {
					require.EqualError(t, err, refusal)
				} else {
					require.NoError(t, err)
					require.Equal(t, []string{"a", "b"}, got)
				}
			}
			require.Equal(t, []string{"SSCAN", "SRANDMEMBER", "SRANDMEMBER", "SRANDMEMBER"}, spy.names())
		})
	}
}

// Who may not have a big key whole has it when it is small again.
func TestKeySizeOfRefusedStreams(t *testing.T) {
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		ctx := caseContext(t)
		for name, not := range map[string]string{"Members": "-smembers", "Fields": "-hgetall"} {
			for _, k := range collections {
				if k.name != name {
					continue
				}
				key := t.Name() + name
				limited := user(t, c, not)
				k.fill(t, c, key, 10*small)
				_, err := all(t, k.read(ctx, limited, key))
				require.ErrorContains(t, err, "NOPERM")
				require.NoError(t, c.Do(ctx, c.B().Del().Key(key).Build()).Error())
				k.fill(t, c, key, 3)
				got, err := all(t, k.read(ctx, limited, key))
				if err != nil { // once, since it was big
					require.ErrorContains(t, err, "NOPERM")
					got, err = all(t, k.read(ctx, limited, key))
				}
				require.NoError(t, err)
				require.Len(t, got, 3)
			}
		}
	})
}

// The text of an error is the same whatever is known of the key.
func TestKeySizeRawErrors(t *testing.T) {
	for _, row := range []struct {
		want string
		opts []rueidisstream.Option
	}{
		{"no", nil},
		{"ERR no", []rueidisstream.Option{rueidisstream.WithRawErrors()}},
	} {
		for _, n := range []int{small, 0} {
			c, _ := scripted(t, "-ERR no\r\n")
			for _, k := range collections {
				_, err := all(t, k.read(caseContext(t), c, t.Name()+row.want, append(row.opts, rueidisstream.WithSmall(n))...))
				require.IsType(t, new(rueidis.RedisError), err)
				require.EqualError(t, err, row.want, "%s, WithSmall(%d)", k.name, n)
			}
		}
	}
}

// Fields that have expired and are not deleted yet hide none that is there. (HRANDFIELD of Valkey 9 gives up when it has met too many of
// them, and then has fewer than it was asked for.)
func TestKeySizeOfExpiredFields(t *testing.T) {
	const fields, live = 5000, 100
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		ctx := caseContext(t)
		for i := range 5 {
			key := t.Name() + strconv.Itoa(i)
			collections[1].fill(t, c, key, live)
			for range 2 {
				got, err := all(t, collections[1].read(ctx, c, key))
				require.NoError(t, err)
				require.Len(t, got, live)
			}
			fill := c.B().Hset().Key(key).FieldValue()
			expire := []string{"1", "FIELDS", strconv.Itoa(fields - live)}
			for f := range fields - live {
				name := "expires" + strconv.Itoa(f)
				fill = fill.FieldValue(name, "")
				expire = append(expire, name)
			}
			require.NoError(t, c.Do(ctx, fill.Build()).Error())
			err := c.Do(ctx, c.B().Arbitrary("HPEXPIRE").Keys(key).Args(expire...).Build()).Error()
			if err != nil {
				require.ErrorContains(t, err, "unknown command")
				t.Log("a server whose fields do not expire")
				return
			}
			time.Sleep(2 * time.Millisecond)
			got, err := all(t, collections[1].read(ctx, c, key))
			require.NoError(t, err)
			require.Len(t, got, live)
		}
	})
}

// A key that is small and big by turns is one or the other, whole, to each of many readers.
func TestKeySizeChangingConcurrently(t *testing.T) {
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		ctx := caseContext(t)
		sizes := [2]int{5, 600}
		for _, k := range collections {
			key, parked := t.Name()+k.name, [2]string{t.Name() + "small", t.Name() + "big"}
			k.fill(t, c, key, sizes[0])
			k.fill(t, c, parked[1], sizes[1])
			var readers sync.WaitGroup
			stop := make(chan struct{})
			for range 4 {
				readers.Go(func() {
					for done := false; !done; {
						select {
						case <-stop:
							done = true // once more
						default:
						}
						n := 0
						for _, err := range k.read(ctx, c, key) {
							if err != nil {
								t.Errorf("%s: %v", k.name, err)
								return
							}
							n++
						}
						if n != sizes[0] && n != sizes[1] {
							t.Errorf("%s: %d elements", k.name, n)
						}
					}
				})
			}
			for i := range 100 {
				is := i % 2
				for _, r := range c.DoMulti(ctx,
					c.B().Multi().Build(),
					c.B().Rename().Key(key).Newkey(parked[is]).Build(),
					c.B().Rename().Key(parked[1-is]).Newkey(key).Build(),
					c.B().Exec().Build()) {
					require.NoError(t, r.Error())
				}
			}
			close(stop)
			readers.Wait()
			require.NoError(t, c.Do(ctx, c.B().Del().Key(key, parked[0], parked[1]).Build()).Error())
		}
	}, casePool(4))
}
