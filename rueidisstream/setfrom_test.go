package rueidisstream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

const (
	chunk = 64 << 10  // of one APPEND
	batch = 512 << 10 // of one round trip
)

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func getString(t testing.TB, c rueidis.Client, key string) string {
	t.Helper()
	got, err := c.Do(context.Background(), c.B().Get().Key(key).Build()).ToString()
	require.NoError(t, err)
	return got
}

func setString(t testing.TB, c rueidis.Client, key, value string) {
	t.Helper()
	require.NoError(t, c.Do(context.Background(), c.B().Set().Key(key).Value(value).Build()).Error())
}

func ttlOf(t testing.TB, c rueidis.Client, key string) time.Duration {
	t.Helper()
	ms, err := c.Do(context.Background(), c.B().Pttl().Key(key).Build()).AsInt64()
	require.NoError(t, err)
	if ms < 0 {
		return time.Duration(ms)
	}
	return time.Duration(ms) * time.Millisecond
}

// tempKeys returns the keys that SetFrom left, or has at work.
func tempKeys(t testing.TB, c rueidis.Client) []string {
	t.Helper()
	keys, err := c.Do(context.Background(), c.B().Keys().Pattern("*:rueidisx:*").Build()).AsStrSlice()
	require.NoError(t, err)
	return keys
}

func TestSetFrom(t *testing.T) {
	idle := func(r io.Reader) io.Reader { // has nothing every other time
		odd := false
		return readerFunc(func(p []byte) (int, error) {
			if odd = !odd; odd {
				return 0, nil
			}
			return r.Read(p)
		})
	}
	plain := func(r io.Reader) io.Reader { return r }
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		ctx := caseContext(t)
		for _, row := range []struct {
			name string
			size int
			wrap func(io.Reader) io.Reader
		}{
			{"empty", 0, plain},
			{"empty, end with the first read", 0, iotest.DataErrReader},
			{"one byte", 1, plain},
			{"one byte with the end", 1, iotest.DataErrReader},
			{"byte by byte", chunk + 1, iotest.OneByteReader},
			{"nothing in between", chunk + 1, idle},
			{"halves", chunk*2 + 1, iotest.HalfReader},
			{"less than a chunk", chunk - 1, plain},
			{"a chunk", chunk, plain},
			{"a chunk with the end", chunk, iotest.DataErrReader},
			{"more than a chunk", chunk + 1, plain},
			{"less than a round trip", batch - 1, plain},
			{"a round trip", batch, plain},
			{"a round trip with the end", batch, iotest.DataErrReader},
			{"more than a round trip", batch + 1, plain},
			{"many", 5*batch + 12345, plain},
		} {
			t.Run(row.name, func(t *testing.T) {
				require.NoError(t, c.Do(ctx, c.B().Flushall().Build()).Error())
				// Of another type and with a time to live before.
				require.NoError(t, c.Do(ctx, c.B().Rpush().Key("k").Element("a").Build()).Error())
				require.NoError(t, c.Do(ctx, c.B().Expire().Key("k").Seconds(100).Build()).Error())
				want := caseRandom(row.size, 1)
				n, err := rueidisstream.SetFrom(ctx, c, "k", row.wrap(strings.NewReader(want)))
				require.NoError(t, err)
				require.EqualValues(t, row.size, n)
				require.True(t, getString(t, c, "k") == want)
				require.EqualValues(t, -1, ttlOf(t, c, "k"), "as after SET")
				size, err := c.Do(ctx, c.B().Dbsize().Build()).AsInt64()
				require.NoError(t, err)
				require.EqualValues(t, 1, size)
			})
		}
	})
}

// Clients that use their connections in other ways.
func TestSetFromClients(t *testing.T) {
	for name, adjust := range map[string]func(*rueidis.ClientOption){
		"no pipelining":     func(o *rueidis.ClientOption) { o.DisableAutoPipelining = true },
		"always pipelining": func(o *rueidis.ClientOption) { o.AlwaysPipelining = true },
		"many connections":  func(o *rueidis.ClientOption) { o.PipelineMultiplex = 3 },
		"short lives":       func(o *rueidis.ClientOption) { o.ConnLifetime = 5 * time.Millisecond },
		"no retries":        func(o *rueidis.ClientOption) { o.DisableRetry = true },
	} {
		t.Run(name, func(t *testing.T) {
			bothProtocols(t, func(t *testing.T, c rueidis.Client) {
				want := caseRandom(10*batch, 11)
				for _, opt := range []rueidisstream.Option{{}, rueidisstream.WithKeepTTL()} {
					n, err := rueidisstream.SetFrom(caseContext(t), c, "k", strings.NewReader(want), opt)
					require.NoError(t, err)
					require.EqualValues(t, len(want), n)
					var b strings.Builder
					_, err = openString(t, c, "k").WriteTo(&b)
					require.NoError(t, err)
					require.True(t, want == b.String())
				}
				require.Empty(t, tempKeys(t, c))
			}, adjust)
		})
	}
}

// A value of 256 MiB is set and read in constant memory.
func TestSetFromMemory(t *testing.T) {
	size := int64(caseSize(256<<20, 32<<20, 32<<20))
	redistest.NoLeak(t)
	// What is allocated and dropped is collected when the heap has doubled; large buffers would double with it.
	c := redistest.NewClient(t, redistest.Shared(t), caseBuffers(32<<10), func(o *rueidis.ClientOption) { o.PipelineMultiplex = -1 })
	ctx := caseContext(t)
	set := func() {
		left := size
		n, err := rueidisstream.SetFrom(ctx, c, "v", readerFunc(func(p []byte) (int, error) {
			n := int(min(left, int64(len(p))))
			for i := range p[:n] {
				p[i] = byte(left)
			}
			if left -= int64(n); n == 0 {
				return 0, io.EOF
			}
			return n, nil
		}))
		if err != nil || n != size {
			t.Fatal(n, err)
		}
	}
	rose := redistest.PeakHeap(set)
	t.Logf("SetFrom of %d MiB: %d KiB", size>>20, rose>>10)
	require.Less(t, rose, int64(8<<20))
	s, err := rueidisstream.OpenString(ctx, c, "v")
	require.NoError(t, err)
	require.Equal(t, size, s.Size())
	rose = redistest.PeakHeap(func() {
		if n, err := s.WriteTo(io.Discard); err != nil || n != size {
			t.Fatal(n, err)
		}
	})
	t.Logf("WriteTo: %d KiB", rose>>10)
	require.Less(t, rose, int64(16<<20), "the ranges that are not collected yet")
	require.NoError(t, c.Do(ctx, c.B().Flushall().Build()).Error())
}

func TestSetFromTTL(t *testing.T) {
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		ctx := caseContext(t)
		type options = []rueidisstream.Option
		expire, at, keep := rueidisstream.WithExpire, rueidisstream.WithExpireAt, rueidisstream.WithKeepTTL
		in := func(d time.Duration) time.Time { return time.Now().Add(d) }
		for _, row := range []struct {
			name   string
			before time.Duration // -1 is none; 0 is no key
			opts   options
			want   time.Duration // -1 is none; 0 is an error
		}{
			{"none", time.Hour, nil, -1},
			{"relative", time.Hour, options{expire(time.Minute)}, time.Minute},
			{"absolute", -1, options{at(in(time.Minute))}, time.Minute},
			{"keep", time.Hour, options{keep()}, time.Hour},
			{"keep none", -1, options{keep()}, -1},
			{"keep without a key", 0, options{keep()}, -1},
			{"the last one counts", time.Hour, options{keep(), at(in(time.Minute)), expire(2 * time.Minute)}, 2 * time.Minute},
			{"longer than the temporary key's", 0, options{expire(1000 * time.Hour)}, 1000 * time.Hour},
			{"relative zero", time.Hour, options{expire(0)}, 0},
			{"less than a millisecond", time.Hour, options{expire(time.Millisecond - 1)}, 0},
			{"relative negative", time.Hour, options{expire(-time.Second)}, 0},
			{"absolute and over", time.Hour, options{at(in(-time.Second))}, 0},
			{"the zero Time", time.Hour, options{at(time.Time{})}, 0},
		} {
			t.Run(row.name, func(t *testing.T) {
				require.NoError(t, c.Do(ctx, c.B().Flushall().Build()).Error())
				if row.before != 0 {
					setString(t, c, "k", "old")
				}
				if row.before > 0 {
					require.NoError(t, c.Do(ctx, c.B().Pexpire().Key("k").Milliseconds(row.before.Milliseconds()).Build()).Error())
				}
				_, err := rueidisstream.SetFrom(ctx, c, "k", strings.NewReader("new"), row.opts...)
				require.Empty(t, tempKeys(t, c))
				if row.want == 0 {
					require.Error(t, err)
					require.Equal(t, "old", getString(t, c, "k"))
					require.InDelta(t, row.before, ttlOf(t, c, "k"), float64(20*time.Second))
					return
				}
				require.NoError(t, err)
				require.Equal(t, "new", getString(t, c, "k"))
				if row.want < 0 {
					require.EqualValues(t, -1, ttlOf(t, c, "k"))
					return
				}
				require.InDelta(t, row.want, ttlOf(t, c, "k"), float64(20*time.Second))
				require.LessOrEqual(t, ttlOf(t, c, "k"), row.want)
			})
		}
		t.Run("exactly", func(t *testing.T) {
			// As PEXPIRETIME, which Redis 6.0 does not have. Within a script the time stands still.
			const expires = `local t = redis.call('TIME') return t[1] * 1000 + math.floor(t[2] / 1000) + redis.call('PTTL', KEYS[1])`
			ms := time.Now().Add(time.Hour).UnixMilli()
			for _, opt := range []rueidisstream.Option{at(time.UnixMilli(ms)), keep()} {
				_, err := rueidisstream.SetFrom(ctx, c, "k", strings.NewReader("new"), opt)
				require.NoError(t, err)
				got, err := c.Do(ctx, c.B().Eval().Script(expires).Numkeys(1).Key("k").Build()).AsInt64()
				require.NoError(t, err)
				require.InDelta(t, ms, got, 20, "the time between TIME and PTTL")
			}
		})
		t.Run("past at the last step", func(t *testing.T) {
			setString(t, c, "k", "old")
			_, err := rueidisstream.SetFrom(ctx, c, "k", readerFunc(func([]byte) (int, error) {
				time.Sleep(250 * time.Millisecond)
				return 0, io.EOF
			}), at(in(200*time.Millisecond)))
			require.ErrorIs(t, err, rueidisstream.ErrChanged)
			require.Equal(t, "old", getString(t, c, "k"))
			require.Empty(t, tempKeys(t, c))
		})
	})
}

// touching is a client whose dedicated connections see something happen to the key that they watch.
type touching struct {
	rueidis.Client
	touch func()
}

type touchingConn struct {
	rueidis.DedicatedClient
	touch func()
}

func (c touching) Dedicate() (rueidis.DedicatedClient, func()) {
	d, release := c.Client.Dedicate()
	return touchingConn{d, c.touch}, release
}

func (c touchingConn) DoMulti(ctx context.Context, multi ...rueidis.Completed) []rueidis.RedisResult {
	watch := multi[0].Commands()[0] == "WATCH"
	rs := c.DedicatedClient.DoMulti(ctx, multi...)
	if watch {
		c.touch()
	}
	return rs
}

// What happens to the key's expiry between its being read and its being set is not lost.
func TestSetFromKeepsNewTTL(t *testing.T) {
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		ctx := caseContext(t)
		other := redistest.NewClient(t, redistest.Shared(t))
		setString(t, c, "k", "old")
		times := 0
		_, err := rueidisstream.SetFrom(ctx, touching{c, func() {
			if times++; times < 4 {
				require.NoError(t, other.Do(ctx, other.B().Expire().Key("k").Seconds(int64(1000*times)).Build()).Error())
			}
		}}, "k", strings.NewReader("new"), rueidisstream.WithKeepTTL())
		require.NoError(t, err)
		require.Equal(t, 4, times)
		require.InDelta(t, 3000*time.Second, ttlOf(t, c, "k"), float64(20*time.Second))
		require.Equal(t, "new", getString(t, c, "k"))
		// All the time.
		_, err = rueidisstream.SetFrom(ctx, touching{c, func() { setString(t, other, "k", "old") }}, "k",
			strings.NewReader("new"), rueidisstream.WithKeepTTL())
		require.ErrorContains(t, err, "touched all the time")
		require.Equal(t, "old", getString(t, c, "k"))
		require.Empty(t, tempKeys(t, c))
		// The connection that was watching is not the one that comes next.
		d, release := c.Dedicate()
		defer release()
		setString(t, other, "k", "other")
		rs := d.DoMulti(ctx, d.B().Multi().Build(), d.B().Get().Key("k").Build(), d.B().Exec().Build())
		require.NoError(t, rs[2].Error())
	})
}

// Whatever ends SetFrom early, the key has kept its value and its time to live, and the temporary key, which had an expiry
// all the time, is gone.
func TestSetFromFails(t *testing.T) {
	errRead := errors.New("out of paper")
	big := errors.New("no error of ours")
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		for _, row := range []struct {
			name string
			// step is called for each Read after the first round trip; temp is the temporary key.
			step func(t *testing.T, temp string, cancel func()) (int, error)
			// wants says what the error must be; nil: there is none, since the call did not return
			wants func(t *testing.T, err error)
		}{
			{"r fails", func(*testing.T, string, func()) (int, error) { return 0, errRead }, func(t *testing.T, err error) {
				require.ErrorIs(t, err, errRead)
				require.EqualError(t, err, "rueidisstream: after 524288 bytes: out of paper")
			}},
			{"r fails with bytes", func(*testing.T, string, func()) (int, error) { return 100, errRead }, func(t *testing.T, err error) {
				require.ErrorIs(t, err, errRead)
			}},
			{"r ends early", func(*testing.T, string, func()) (int, error) { return 0, io.ErrUnexpectedEOF }, func(t *testing.T, err error) {
				require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			}},
			{"r has a null of a server's", func(*testing.T, string, func()) (int, error) { return 0, rueidis.Nil }, func(t *testing.T, err error) {
				require.ErrorIs(t, err, rueidis.Nil)
				require.False(t, rueidis.IsRedisNil(err), "it is not the answer to SetFrom")
			}},
			{"r counts less than nothing", func(*testing.T, string, func()) (int, error) { return -1, nil }, func(t *testing.T, err error) {
				require.ErrorContains(t, err, "impossible count")
			}},
			{"r counts too much", func(*testing.T, string, func()) (int, error) { return chunk + 1, nil }, func(t *testing.T, err error) {
				require.ErrorContains(t, err, "impossible count")
			}},
			{"r panics", func(*testing.T, string, func()) (int, error) { panic(big) }, nil},
			{"r ends the goroutine", func(*testing.T, string, func()) (int, error) { runtime.Goexit(); return 0, nil }, nil},
			{"cancelled", func(_ *testing.T, _ string, cancel func()) (int, error) { cancel(); return chunk, nil }, func(t *testing.T, err error) {
				require.ErrorIs(t, err, context.Canceled)
			}},
			{"cancelled, and r fails", func(_ *testing.T, _ string, cancel func()) (int, error) { cancel(); return 0, errRead }, func(t *testing.T, err error) {
				require.ErrorIs(t, err, context.Canceled)
				require.ErrorIs(t, err, errRead)
			}},
			{"cancelled at the end", func(_ *testing.T, _ string, cancel func()) (int, error) { cancel(); return 0, io.EOF }, func(t *testing.T, err error) {
				require.ErrorIs(t, err, context.Canceled)
				require.NotContains(t, err.Error(), "or the new one")
			}},
			{"temporary key deleted", func(t *testing.T, temp string, _ func()) (int, error) {
				require.NoError(t, c.Do(context.Background(), c.B().Del().Key(temp).Build()).Error())
				return chunk, nil
			}, func(t *testing.T, err error) {
				require.ErrorIs(t, err, rueidisstream.ErrChanged)
				require.ErrorContains(t, err, "after 524288 bytes: the temporary key has 65536 bytes and should have 589824")
			}},
			{"temporary key deleted at the end", func(t *testing.T, temp string, _ func()) (int, error) {
				require.NoError(t, c.Do(context.Background(), c.B().Del().Key(temp).Build()).Error())
				return 0, io.EOF
			}, func(t *testing.T, err error) {
				require.ErrorIs(t, err, rueidisstream.ErrChanged)
			}},
			{"something was appended twice", func(t *testing.T, temp string, _ func()) (int, error) {
				require.NoError(t, c.Do(context.Background(), c.B().Append().Key(temp).Value("x").Build()).Error())
				return chunk, nil
			}, func(t *testing.T, err error) {
				require.ErrorIs(t, err, rueidisstream.ErrChanged)
			}},
			{"temporary key of another type", func(t *testing.T, temp string, _ func()) (int, error) {
				require.NoError(t, c.Do(context.Background(), c.B().Del().Key(temp).Build()).Error())
				require.NoError(t, c.Do(context.Background(), c.B().Sadd().Key(temp).Member("x").Build()).Error())
				return chunk, nil
			}, func(t *testing.T, err error) {
				_, ok := err.(*rueidis.RedisError)
				require.True(t, ok, "the server's, unwrapped")
				require.ErrorContains(t, err, "WRONGTYPE")
			}},
		} {
			t.Run(row.name, func(t *testing.T) {
				ctx, cancel := context.WithCancel(caseContext(t))
				defer cancel()
				require.NoError(t, c.Do(ctx, c.B().Flushall().Build()).Error())
				require.NoError(t, c.Do(ctx, c.B().Set().Key("k").Value("old").ExSeconds(1000).Build()).Error())
				read, returned := 0, false
				var n int64
				var err error
				var left time.Time
				goroutine(func() {
					n, err = rueidisstream.SetFrom(ctx, c, "k", readerFunc(func(p []byte) (int, error) {
						if read < batch {
							require.Empty(t, tempKeys(t, c))
							read += len(p)
							return len(p), nil
						}
						temp := tempKeys(t, c)
						if read += chunk; read > batch+chunk { // the step was taken
							return len(p), nil
						}
						require.Len(t, temp, 1)
						require.Greater(t, ttlOf(t, c, temp[0]), 4*time.Minute)
						require.Equal(t, "old", getString(t, c, "k"))
						left = time.Now()
						return row.step(t, temp[0], cancel)
					}), rueidisstream.WithExpire(time.Minute))
					returned = true
				})
				require.Less(t, time.Since(left), 2*time.Second)
				require.Equal(t, row.wants != nil, returned)
				if returned {
					require.Zero(t, n)
					row.wants(t, err)
				}
				require.Empty(t, tempKeys(t, c))
				require.Equal(t, "old", getString(t, c, "k"))
				require.InDelta(t, 1000*time.Second, ttlOf(t, c, "k"), float64(20*time.Second))
			})
		}
	})
}

// When the context is done while the server does not answer, SetFrom is back within a second; what is left expires.
func TestSetFromStalled(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.Shared(t)
	c := redistest.NewClient(t, srv)
	proxy := redistest.NewProxy(t, srv.Addr)
	through := redistest.NewClient(t, srv, func(o *rueidis.ClientOption) { o.InitAddress = []string{proxy.Addr()} })
	setString(t, c, "k", "old")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	batches := 0
	var left time.Time
	_, err := rueidisstream.SetFrom(ctx, through, "k", readerFunc(func(p []byte) (int, error) {
		if batches++; batches == 2*batch/chunk {
			proxy.Set(redistest.Fault{StallAfter: redistest.AtOnce})
			time.AfterFunc(100*time.Millisecond, func() { left = time.Now(); cancel() })
		}
		return len(p), nil
	}))
	require.ErrorIs(t, err, context.Canceled)
	require.Less(t, time.Since(left), time.Second)
	require.Equal(t, "old", getString(t, c, "k"))
	proxy.Release()
	for _, k := range tempKeys(t, c) {
		require.Positive(t, ttlOf(t, c, k))
	}
}

// The connection is cut after each of many byte positions, on the way to the server and on the way back: from the start, and
// from the last step on, which WithKeepTTL takes on another connection.
func TestSetFromCut(t *testing.T) {
	want := caseRandom(batch, 2)
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		srv := redistest.Shared(t)
		proxy := redistest.NewProxy(t, srv.Addr)
		through := redistest.NewClient(t, srv, func(o *rueidis.ClientOption) {
			o.InitAddress, o.DisableCache = []string{proxy.Addr()}, true
			o.AlwaysRESP2 = strings.Contains(t.Name(), "resp2=true")
			o.PipelineMultiplex = -1
			o.Dialer.KeepAlive = time.Hour // no PING of the client's own
		})
		set := func(start, last redistest.Fault, opts ...rueidisstream.Option) error {
			require.NoError(t, c.Do(context.Background(), c.B().Set().Key("k").Value("old").ExSeconds(1000).Build()).Error())
			require.NoError(t, through.Dedicated(func(d rueidis.DedicatedClient) error { // dials, if need be
				return d.Do(context.Background(), d.B().Ping().Build()).Error()
			}))
			proxy.Set(start)
			r := strings.NewReader(want)
			_, err := rueidisstream.SetFrom(caseContext(t), through, "k", readerFunc(func(p []byte) (int, error) {
				if r.Len() == 0 && last != (redistest.Fault{}) {
					proxy.Set(last) // all is sent
				}
				return r.Read(p)
			}), opts...)
			proxy.Clear()
			return err
		}
		cutUp := func(n int64) redistest.Fault { return redistest.Fault{CutUpAfter: redistest.After(int(n)), Once: true} }
		cutDown := func(n int64) redistest.Fault { return redistest.Fault{CutAfter: redistest.After(int(n)), Once: true} }
		expire, keep := rueidisstream.WithExpire(time.Hour), rueidisstream.WithKeepTTL()
		var none redistest.Fault
		for _, row := range []struct {
			name             string
			opt              rueidisstream.Option
			faults           func(up, down int64) (faults []redistest.Fault)
			last             bool // the fault begins with the last step
			unset, set, both bool // outcomes that must have been among them: the error says not set, success, and not known
		}{
			{"all", expire, func(up, down int64) (faults []redistest.Fault) {
				for n := int64(0); n < up-900; n += up / 12 {
					faults = append(faults, cutUp(n))
				}
				for n := up - 900; n <= up; n += 31 {
					faults = append(faults, cutUp(n))
				}
				for n := int64(0); n <= down; n += 5 {
					faults = append(faults, cutDown(n))
				}
				return faults
			}, false, true, false, true},
			{"last step", expire, lastFaults(cutUp, cutDown), true, true, true, true},
			{"last step, keeping the TTL", keep, lastFaults(cutUp, cutDown), true, true, true, true},
		} {
			t.Run(row.name, func(t *testing.T) {
				require.NoError(t, set(none, none, row.opt))
				up, down := proxy.Sent(), proxy.Received()
				require.NoError(t, set(none, none, row.opt))
				faults := row.faults(proxy.Sent()-up, proxy.Received()-down)
				var unset, done, both int
				for _, f := range faults {
					start, last := f, none
					if row.last {
						start, last = none, f
					}
					err := set(start, last, row.opt)
					at, got := fmt.Sprintf("%+v: %v", f, err), getString(t, c, "k")
					switch {
					case err == nil:
						require.True(t, got == want, at)
						done++
					case strings.Contains(err.Error(), "the old value or the new one"):
						require.True(t, got == want || got == "old", at)
						both++
					default:
						require.Equal(t, "old", got, at)
						unset++
					}
					require.Positive(t, ttlOf(t, c, "k"), at)
					for _, k := range tempKeys(t, c) {
						require.Positive(t, ttlOf(t, c, k), at)
					}
					require.NoError(t, c.Do(context.Background(), c.B().Flushall().Build()).Error())
				}
				t.Logf("%d faults: %d not set, %d set, %d not known", len(faults), unset, done, both)
				require.Equal(t, row.unset, unset > 0)
				require.Equal(t, row.both, both > 0)
				require.True(t, !row.set || done > 0)
			})
		}
	})
}

// lastFaults are for the last step, which is up to 400 bytes and has some 100 bytes of replies.
func lastFaults(cutUp, cutDown func(n int64) redistest.Fault) func(_, _ int64) []redistest.Fault {
	return func(_, _ int64) (faults []redistest.Fault) {
		for n := int64(0); n < 420; n += 13 {
			faults = append(faults, cutUp(n))
		}
		for n := int64(0); n < 130; n += 4 {
			faults = append(faults, cutDown(n))
		}
		return faults
	}
}

// Replies that no server should give.
func TestSetFromForged(t *testing.T) {
	redistest.NoLeak(t)
	for _, row := range []struct {
		name, of, reply string
		opt             rueidisstream.Option
		want            string // the error; "" is none
	}{
		{"APPEND is no number", "APPEND", "+OK\r\n", rueidisstream.Option{}, "not a RESP3 int64"},
		{"APPEND fails", "APPEND", "-ERR string exceeds maximum allowed size (proto-max-bulk-len)\r\n", rueidisstream.Option{}, "string exceeds maximum"},
		{"APPEND is refused", "QUEUED APPEND", "-OOM command not allowed when used memory > 'maxmemory'.\r\n", rueidisstream.Option{}, "OOM command"},
		{"no expiry", "PEXPIRE", ":0\r\n", rueidisstream.Option{}, "had no expiry"},
		{"expiry is no number", "PEXPIRE", "+OK\r\n", rueidisstream.Option{}, "not a RESP3 int64"},
		{"PERSIST had nothing to do", "PERSIST", ":0\r\n", rueidisstream.Option{}, "had no expiry"},
		{"RENAME fails", "RENAME", "-ERR no\r\n", rueidisstream.Option{}, "no"},
		{"RENAME is refused", "QUEUED RENAME", "-NOPERM no\r\n", rueidisstream.Option{}, "NOPERM no"},
		{"EXEC is a null", "EXEC", "_\r\n", rueidisstream.Option{}, "aborted"},
		{"EXEC is short", "EXEC", "*0\r\n", rueidisstream.Option{}, "EXEC has 0 replies"},
		{"EXEC is a number", "EXEC", ":1\r\n", rueidisstream.Option{}, "the reply to EXEC"},
		{"EXEC fails", "EXEC", "-EXECABORT no\r\n", rueidisstream.Option{}, "EXECABORT"},
		{"MULTI fails", "MULTI", "-ERR MULTI calls can not be nested\r\n", rueidisstream.Option{}, "nested"},
		{"WATCH is refused", "WATCH", "-NOPERM no\r\n", rueidisstream.WithKeepTTL(), "NOPERM"},
		{"WATCH is cut", "WATCH", "", rueidisstream.WithKeepTTL(), io.ErrUnexpectedEOF.Error()},
		{"TIME is short", "TIME", "*1\r\n:1\r\n", rueidisstream.WithKeepTTL(), "the reply to TIME is"},
		{"TIME is no number", "TIME", "*2\r\n+a\r\n+b\r\n", rueidisstream.WithKeepTTL(), "the reply to TIME or PTTL"},
		{"PTTL is no number", "PTTL", "+OK\r\n", rueidisstream.WithKeepTTL(), "the reply to TIME or PTTL"},
		{"UNLINK fails, too", "UNLINK", "-ERR no\r\n", rueidisstream.WithExpire(time.Hour), ""},
		{"nothing", "", "", rueidisstream.WithKeepTTL(), ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := newStore(t, func(cmd []string, reply string) string {
				if row.of != "" && (cmd[0] == row.of || strings.Join(cmd, " ") == row.of) {
					return row.reply
				}
				return reply
			})
			c := caseDial(t, s.Addr(), func(o *rueidis.ClientOption) { o.DisableCache = true })
			n, err := rueidisstream.SetFrom(caseContext(t), c, "k", strings.NewReader("new"), row.opt)
			if row.want == "" {
				require.NoError(t, err)
				require.EqualValues(t, 3, n)
				require.Equal(t, "new", getString(t, c, "k"))
				return
			}
			require.ErrorContains(t, err, row.want)
			require.NotErrorIs(t, err, io.EOF)
			if strings.HasPrefix(row.reply, "-") && row.name != "RENAME fails" {
				_, ok := err.(*rueidis.RedisError)
				require.True(t, ok, "unwrapped: %v", err)
			}
			require.Zero(t, n)
			s.mu.Lock()
			defer s.mu.Unlock()
			for key := range s.values {
				require.Equal(t, "k", key, "nothing but perhaps the key")
			}
		})
	}
	t.Run("cleaning up fails", func(t *testing.T) {
		for _, reply := range []string{"-NOPERM no\r\n", "*1\r\n+OK\r\n", "*1\r\n:0\r\n", ""} {
			s := newStore(t, func(cmd []string, was string) string {
				switch {
				case cmd[0] == "QUEUED" && cmd[1] == "UNLINK" && strings.HasPrefix(reply, "-"):
					return reply
				case cmd[0] == "UNLINK" && reply != "" && reply[0] == '*':
					return reply[4:]
				case cmd[0] == "UNLINK" && reply == "":
					panic("not reached")
				}
				return was
			})
			if reply == "" {
				s.Fake.Close()
				c := caseDial(t, redistest.NewFake(t, func(c *redistest.FakeConn, _ []string) { c.Cut() }).Addr(), func(o *rueidis.ClientOption) { o.DisableCache = true })
				begin := time.Now()
				_, err := rueidisstream.SetFrom(caseContext(t), c, "k", strings.NewReader("new"))
				require.ErrorIs(t, err, io.ErrUnexpectedEOF)
				require.Less(t, time.Since(begin), 2*time.Second)
				continue
			}
			c := caseDial(t, s.Addr(), func(o *rueidis.ClientOption) { o.DisableCache = true })
			_, err := rueidisstream.SetFrom(caseContext(t), c, "k", iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(strings.Repeat("new", 99)))))
			require.ErrorIs(t, err, iotest.ErrTimeout)
		}
	})
	t.Run("the client is closed", func(t *testing.T) {
		s := newStore(t, nil)
		c := caseDial(t, s.Addr(), func(o *rueidis.ClientOption) { o.DisableCache = true })
		c.Close()
		_, err := rueidisstream.SetFrom(caseContext(t), c, "k", strings.NewReader("new"))
		require.ErrorIs(t, err, rueidis.ErrClosing)
	})
	t.Run("a client that answers nothing", func(t *testing.T) {
		s := newStore(t, nil)
		c := caseDial(t, s.Addr(), func(o *rueidis.ClientOption) { o.DisableCache = true })
		_, err := rueidisstream.SetFrom(caseContext(t), silent{c}, "k", strings.NewReader("new"))
		require.ErrorIs(t, err, rueidisstream.ErrUnsupported)
	})
}

// silent is a client that has no results.
type silent struct{ rueidis.Client }

func (silent) DoMulti(context.Context, ...rueidis.Completed) []rueidis.RedisResult { return nil }

// What is sent, and in which order: nothing at all is ever outside of a transaction.
func TestSetFromSends(t *testing.T) {
	redistest.NoLeak(t)
	s := newStore(t, nil)
	c := caseDial(t, s.Addr(), func(o *rueidis.ClientOption) { o.DisableCache = true })
	ctx := caseContext(t)
	for _, row := range []struct {
		name, want string
		size       int
		opts       []rueidisstream.Option
	}{
		{"empty", "MULTI APPEND PEXPIRE EXEC MULTI PERSIST RENAME EXEC", 0, nil},
		{"small", "MULTI APPEND PEXPIRE EXEC MULTI PEXPIRE RENAME EXEC", 1, []rueidisstream.Option{rueidisstream.WithExpire(time.Hour)}},
		{"two chunks", "MULTI APPEND APPEND PEXPIRE EXEC MULTI PEXPIREAT RENAME EXEC", chunk + 1, []rueidisstream.Option{rueidisstream.WithExpireAt(time.Now().Add(time.Hour))}},
		{"more than a round trip", "MULTI" + strings.Repeat(" APPEND", batch/chunk) + " PEXPIRE EXEC MULTI APPEND PEXPIRE EXEC WATCH TIME PTTL MULTI PERSIST RENAME EXEC", batch + 1, []rueidisstream.Option{rueidisstream.WithKeepTTL()}},
	} {
		t.Run(row.name, func(t *testing.T) {
			before := len(s.names())
			n, err := rueidisstream.SetFrom(ctx, c, "sends "+strconv.Itoa(row.size), strings.NewReader(strings.Repeat("x", row.size)), row.opts...)
			require.NoError(t, err)
			require.EqualValues(t, row.size, n)
			require.Equal(t, row.want, strings.TrimSpace(s.names()[before:]))
		})
	}
}
