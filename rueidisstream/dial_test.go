package rueidisstream_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

const (
	dialString  = 1 << 20
	dialMembers = 1000 // of a kilobyte
	dialSilence = 500 * time.Millisecond
)

// dialWay is a way of a client to its server.
type dialWay struct {
	name   string
	target string                                            // what the proxy is to stand before
	opt    func(proxy string) rueidis.ClientOption           // of a client that goes through the proxy
	opts   []rueidisstream.Option                            // of each call
	build  func(rueidis.Client, ...string) rueidis.Completed // a command

	stallRESP2 bool
}

// dialWays are plain TCP, TLS, a replica, and dialling by the user's own function.
func dialWays(t *testing.T) []dialWay {
	shared, secure := redistest.Shared(t), redistest.TLS(t)
	primary, replica := redistest.Replica(t)
	for _, srv := range []*redistest.Server{shared, secure.Admin(), primary} {
		srv.Do(t, "SET", "{d}string", strings.Repeat("v", dialString))
		srv.Do(t, "EVAL", "for i = 1, tonumber(ARGV[1]) do redis.call('RPUSH', KEYS[1], string.rep('m', 1000)) end return 1", "1", "{d}list", fmt.Sprint(dialMembers))
	}
	require.Eventually(t, func() bool { return replica.Do(t, "LLEN", "{d}list") == fmt.Sprint(dialMembers) }, caseTime, 10*time.Millisecond)
	through := func(srv *redistest.Server, adjust func(*rueidis.ClientOption, string)) func(string) rueidis.ClientOption {
		return func(proxy string) rueidis.ClientOption {
			opt := srv.ClientOption()
			opt.InitAddress, opt.ForceSingleClient, opt.DisableCache, opt.BlockingPoolSize = []string{proxy}, true, true, 1
			if adjust != nil {
				adjust(&opt, proxy)
			}
			return opt
		}
	}
	dialled := new(atomic.Int64)
	t.Cleanup(func() {
		if dialled.Load() == 0 {
			t.Error("the user's own DialCtxFn was not called")
		}
	})
	return []dialWay{
		{"TCP", shared.Addr, through(shared, nil), nil, caseWords, false},
		{"TLS", secure.Addr, through(secure, nil), nil, caseWords, true},
		{"replica", replica.Addr, through(replica, func(o *rueidis.ClientOption, proxy string) {
			o.InitAddress, o.ForceSingleClient = []string{primary.Addr}, false
			o.Standalone = rueidis.StandaloneOption{ReplicaAddress: []string{proxy}}
			o.SendToReplicas = func(cmd rueidis.Completed) bool { return cmd.IsReadOnly() }
		}), []rueidisstream.Option{rueidisstream.AllowReplica()}, caseReadOnly, false},
		{"own DialCtxFn", shared.Addr, through(shared, func(o *rueidis.ClientOption, _ string) {
			o.DialCtxFn = func(ctx context.Context, addr string, d *net.Dialer, _ *tls.Config) (net.Conn, error) {
				dialled.Add(1)
				return d.DialContext(ctx, "tcp", addr)
			}
		}), nil, caseWords, true},
	}
}

// dialCall is one call of this package, which returns how much it has got.
type dialCall struct {
	name  string
	whole int            // what it gets if all is well
	at    map[string]int // where to disturb it: bytes of the replies to its commands that have come before
	run   func(ctx context.Context, c rueidis.Client, build func(words ...string) rueidis.Completed, opts []rueidisstream.Option) (int, error)
}

var dialCalls = []dialCall{
	{
		"Do", dialString,
		map[string]int{"before the first byte": -1, "in a string": dialString / 2, "in the closing reply": dialString + 12 + 3},
		func(ctx context.Context, c rueidis.Client, build func(...string) rueidis.Completed, opts []rueidisstream.Option) (int, error) {
			r, err := rueidisstream.Do(ctx, c, build("GET", "{d}string"), opts...)
			if err != nil {
				return 0, err
			}
			defer r.Close()
			n, err := r.WriteTo(io.Discard)
			return int(n), errors.Join(err, r.Close())
		},
	},
	{
		"Values", dialMembers,
		map[string]int{"before the first byte": -1, "in an aggregate": dialMembers * 500, "in the closing reply": 7 + dialMembers*1009 + 3},
		func(ctx context.Context, c rueidis.Client, build func(...string) rueidis.Completed, opts []rueidisstream.Option) (n int, err error) {
			for _, err := range rueidisstream.Values(ctx, c, build("LRANGE", "{d}list", "0", "-1"), opts...) {
				if err != nil {
					return n, err
				}
				n++
			}
			return n, nil
		},
	},
	{
		"Copy", dialString,
		map[string]int{"before the first byte": -1, "in a string": dialString / 2},
		func(ctx context.Context, c rueidis.Client, build func(...string) rueidis.Completed, opts []rueidisstream.Option) (int, error) {
			n, err := rueidisstream.Copy(ctx, c, build("GET", "{d}string"), io.Discard, opts...)
			return int(n), err
		},
	},
	{
		"DoMulti", dialString + dialMembers,
		map[string]int{
			"before the first byte": -1, "in a string": dialString / 2, "in an aggregate": dialString + 500_000, "in the closing reply": dialString + 12 + 7 + dialMembers*1009 + 3,
		},
		func(ctx context.Context, c rueidis.Client, build func(...string) rueidis.Completed, opts []rueidisstream.Option) (n int, err error) {
			rs := rueidisstream.DoMulti(ctx, c, []rueidis.Completed{build("GET", "{d}string"), build("LRANGE", "{d}list", "0", "-1")}, opts...)
			defer rs.Close()
			r, err := rs.Next()
			if err != nil {
				return 0, err
			}
			size, err := r.WriteTo(io.Discard)
			if n = int(size); err != nil {
				return n, err
			}
			if r, err = rs.Next(); err != nil {
				return n, err
			}
			for _, err := range r.Values() {
				if err != nil {
					return n, err
				}
				n++
			}
			return n, rs.Close()
		},
	},
}

// dialFaults are what can end a call, and the one error among these that it is then.
var dialFaults = map[string]error{
	"cancel":   context.Canceled,
	"deadline": context.DeadlineExceeded,
	"stall":    rueidisstream.ErrStalled,
	"cut":      io.ErrUnexpectedEOF,
}

// With Dial, a call that is cancelled, or whose deadline passes, or whose connection falls silent or is cut, ends with that one
// error, wherever it stands and whatever the way to the server. Once all of the reply is there, that is no error any more.
func TestDial(t *testing.T) {
	redistest.NoLeak(t)
	ways := dialWays(t)
	t.Run("all", func(t *testing.T) { // whose parts run beside each other
		for _, way := range ways {
			for _, resp2 := range []bool{false, true} {
				for fault := range dialFaults {
					if fault == "stall" && resp2 != way.stallRESP2 {
						continue // they take their time: one protocol each
					}
					t.Run(fmt.Sprintf("%s/resp2=%v/%s", way.name, resp2, fault), func(t *testing.T) {
						t.Parallel()
						dialDisturbed(t, way, resp2, fault)
					})
				}
			}
		}
	})
}

func dialDisturbed(t *testing.T, way dialWay, resp2 bool, fault string) {
	const opening = 23 // bytes of the reply to it
	p := redistest.NewProxy(t, way.target)
	opt := way.opt(p.Addr())
	opt.AlwaysRESP2 = resp2
	opt.ConnWriteTimeout = time.Hour // it is not what ends the call
	if fault == "stall" {
		opt.ConnWriteTimeout = dialSilence
	}
	c, err := rueidis.NewClient(rueidisstream.Dial(opt))
	require.NoError(t, err)
	t.Cleanup(c.Close)
	build := func(words ...string) rueidis.Completed { return way.build(c, words...) }
	whole := func(call dialCall) {
		p.Clear()
		n, err := call.run(caseContext(t), c, build, way.opts)
		require.NoError(t, err)
		require.Equal(t, call.whole, n)
	}
	for _, call := range dialCalls {
		for place, at := range call.at {
			whole(call) // and a connection is there
			if at >= 0 && call.name != "Copy" {
				at += opening
			}
			f := redistest.Fault{StallAfter: int64(at)}
			if fault == "cut" {
				f = redistest.Fault{CutAfter: int64(at), Once: true}
				if at < 0 && way.name == "replica" {
					continue // commands that only read are sent again
				}
			}
			p.Set(f)
			ctx, cancel := context.WithTimeout(context.Background(), caseTime)
			over := make(chan struct{})
			switch fault {
			case "cancel":
				go func(before int64) {
					defer cancel()
					for p.Received()-before < int64(at) {
						select {
						case <-over:
							return
						case <-time.After(time.Millisecond):
						}
					}
					time.Sleep(30 * time.Millisecond) // for the bytes to be read
				}(p.Received())
			case "deadline":
				cancel()
				ctx, cancel = context.WithTimeout(context.Background(), 30*time.Millisecond)
			}
			begin := time.Now()
			n, err := call.run(ctx, c, build, way.opts)
			close(over)
			cancel()
			at := fmt.Sprintf("%s, %s: %d of %d after %v: %v", call.name, place, n, call.whole, time.Since(begin), err)
			require.Less(t, time.Since(begin), caseTime/2, at)
			if n == call.whole && err == nil && place == "in the closing reply" {
				continue
			}
			require.Less(t, n, call.whole, at)
			require.NotErrorIs(t, err, io.EOF, at)
			for name, other := range dialFaults {
				require.Equal(t, name == fault, errors.Is(err, other), "%s: %s", name, at)
			}
			require.Equal(t, fault == "stall", errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, context.DeadlineExceeded), at)
			if place == "before the first byte" {
				require.Zero(t, n, at)
			} else if way.name != "TLS" && (fault == "stall" || fault == "cut") { // else it depends on how fast the machine is
				require.NotEqual(t, "in the closing reply", place, at)
				require.NotZero(t, n, at)
			}
		}
	}
	p.Clear()
	for i := range 100 {
		var b strings.Builder
		_, err := rueidisstream.Copy(caseContext(t), c, build("GETRANGE", "{d}string", "0", fmt.Sprint(i)), &b, way.opts...)
		require.NoError(t, err)
		require.Equal(t, strings.Repeat("v", i+1), b.String())
	}
}

// A stream that flows, and a consumer that is slow, outlive ConnWriteTimeout; so does a blocking command before its first byte.
func TestDial_SilenceIsAllowedWhereNothingIsDue(t *testing.T) {
	const silence = 400 * time.Millisecond
	redistest.NoLeak(t)
	srv := redistest.Shared(t)
	srv.Do(t, "SET", "string", strings.Repeat("v", dialString))
	p := redistest.NewProxy(t, srv.Addr)
	opt := rueidis.ClientOption{InitAddress: []string{p.Addr()}, ForceSingleClient: true, BlockingPoolSize: 1, ConnWriteTimeout: silence}
	c, err := rueidis.NewClient(rueidisstream.Dial(opt))
	require.NoError(t, err)
	t.Cleanup(c.Close)
	ctx := caseContext(t)
	get := func() rueidis.Completed { return c.B().Get().Key("string").Build() }
	pop := func() rueidis.Completed { return c.B().Blpop().Key("queue").Timeout(0).Build() }
	later := func() { time.AfterFunc(3*silence, func() { srv.Do(t, "RPUSH", "queue", "job") }) }
	for name, call := range map[string]func(t *testing.T){
		"a slow consumer": func(t *testing.T) {
			slow := 4
			n, err := rueidisstream.Copy(ctx, c, get(), caseWriter(func(b []byte) (int, error) {
				if slow--; slow > 0 {
					time.Sleep(2 * silence)
				}
				return len(b), nil
			}))
			require.NoError(t, err)
			require.EqualValues(t, dialString, n)
		},
		"a slow network": func(t *testing.T) {
			p.Set(redistest.Fault{Bandwidth: dialString * 5 / 4})
			defer p.Clear()
			n, err := rueidisstream.Copy(ctx, c, get(), io.Discard)
			require.NoError(t, err)
			require.EqualValues(t, dialString, n)
		},
		"BLPOP": func(t *testing.T) {
			later()
			got, err := advCollect(t, rueidisstream.Values(ctx, c, pop()))
			require.NoError(t, err)
			require.Equal(t, []string{"queue", "job"}, got)
		},
		"BLPOP between others": func(t *testing.T) {
			later()
			n := 0
			for r, err := range rueidisstream.DoMulti(ctx, c, []rueidis.Completed{get(), pop(), get()}).All() {
				require.NoError(t, err)
				require.NoError(t, r.Skip())
				n++
			}
			require.Equal(t, 3, n)
		},
		"BLPOP that is cancelled": func(t *testing.T) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(2*silence, cancel)
			_, err := rueidisstream.Do(ctx, c, pop())
			require.ErrorIs(t, err, context.Canceled)
		},
		"but not in the reply to BLPOP": func(t *testing.T) {
			srv.Do(t, "RPUSH", "queue", strings.Repeat("j", dialString))
			r, err := rueidisstream.Do(ctx, c, get()) // a connection is there
			require.NoError(t, err)
			require.NoError(t, r.Close())
			p.Set(redistest.Fault{StallAfter: dialString / 2})
			defer p.Clear()
			_, err = advCollect(t, rueidisstream.Values(ctx, c, pop()))
			require.ErrorIs(t, err, rueidisstream.ErrStalled)
		},
	} {
		t.Run(name, func(t *testing.T) {
			call(t)
			caseEchoes(t, c, 100)
		})
	}
}

// What rueidis does by itself where it dials is done by Dial, and no function of the user's is lost.
func TestDial_DialsAsTheOptionsSay(t *testing.T) {
	srv := redistest.Shared(t)
	for name, row := range map[string]func(o *rueidis.ClientOption, called *atomic.Int64){
		"DialFn": func(o *rueidis.ClientOption, called *atomic.Int64) {
			o.DialFn = func(addr string, d *net.Dialer, _ *tls.Config) (net.Conn, error) {
				called.Add(1)
				return d.Dial("tcp", addr)
			}
		},
		"DisableTCPNoDelay": func(o *rueidis.ClientOption, called *atomic.Int64) {
			o.DisableTCPNoDelay = true
			called.Add(1)
		},
		"no ConnWriteTimeout": func(o *rueidis.ClientOption, called *atomic.Int64) {
			o.ConnWriteTimeout = -1
			called.Add(1)
		},
		"no keep-alive": func(o *rueidis.ClientOption, called *atomic.Int64) {
			o.Dialer.KeepAlive = -1
			called.Add(1)
		},
		"a connection that knows no deadlines": func(o *rueidis.ClientOption, called *atomic.Int64) {
			o.DialCtxFn = func(ctx context.Context, addr string, d *net.Dialer, _ *tls.Config) (net.Conn, error) {
				called.Add(1)
				conn, err := d.DialContext(ctx, "tcp", addr)
				return dialNoDeadline{conn}, err
			}
		},
		"small buffers": func(o *rueidis.ClientOption, called *atomic.Int64) {
			o.WriteBufferEachConn, o.ReadBufferEachConn = 16, 64
			called.Add(1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			redistest.NoLeak(t)
			called := new(atomic.Int64)
			opt := srv.ClientOption()
			opt.ForceSingleClient = true
			row(&opt, called)
			c, err := rueidis.NewClient(rueidisstream.Dial(opt))
			require.NoError(t, err)
			defer c.Close()
			fillWays(t, c)
			everything(t, c)
			caseEchoes(t, c, 20)
			ctx, cancel := context.WithCancel(context.Background())
			time.AfterFunc(30*time.Millisecond, cancel)
			begin := time.Now()
			_, err = rueidisstream.Do(ctx, c, c.B().Blpop().Key("none").Timeout(10).Build())
			if name != "small buffers" {
				require.ErrorIs(t, err, context.Canceled)
				require.Less(t, time.Since(begin), 9*time.Second)
			}
			require.NotZero(t, called.Load())
		})
	}
	t.Run("an error from dialling", func(t *testing.T) {
		opt := rueidis.ClientOption{InitAddress: []string{"127.0.0.1:1"}, ForceSingleClient: true}
		_, err := rueidis.NewClient(rueidisstream.Dial(opt))
		require.ErrorContains(t, err, "connection refused")
	})
}

// dialNoDeadline is a connection such as those through an SSH client, which know no deadlines.
type dialNoDeadline struct{ net.Conn }

var errNoDeadline = errors.New("deadline not supported")

func (dialNoDeadline) SetDeadline(time.Time) error      { return errNoDeadline }
func (dialNoDeadline) SetReadDeadline(time.Time) error  { return errNoDeadline }
func (dialNoDeadline) SetWriteDeadline(time.Time) error { return errNoDeadline }

// A server that does not let PING pass says so in place of the reply.
func TestDial_OpeningIsRefused(t *testing.T) {
	for name, row := range map[string]struct {
		reply, want string
		err         error
	}{
		"an error":       {"-LOADING not yet\r\n", "LOADING", nil},
		"another answer": {"+PONG\r\n", "PONG", rueidisstream.ErrProtocol},
		"no answer":      {"$5\r\nhello\r\n", "hello", rueidisstream.ErrProtocol},
		"no RESP":        {"hello\r\n", "", rueidisstream.ErrProtocol},
	} {
		t.Run(name, func(t *testing.T) {
			redistest.NoLeak(t)
			var refuse atomic.Bool
			f := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
				switch {
				case cmd[0] == "ECHO":
					c.Write(redistest.Bulk(cmd[1]))
				case cmd[0] == "PING" && refuse.Load():
					c.Write(row.reply)
				default:
					c.BuiltIn(cmd)
				}
			}, redistest.Intercept("PING"))
			c, err := rueidis.NewClient(rueidisstream.Dial(rueidis.ClientOption{
				InitAddress: []string{f.Addr()}, ForceSingleClient: true, DisableCache: true, BlockingPoolSize: 1,
			}))
			require.NoError(t, err)
			defer c.Close()
			caseEchoes(t, c, 20)
			refuse.Store(true)
			_, err = rueidisstream.Do(caseContext(t), c, caseWords(c, "ECHO", "word"))
			require.ErrorContains(t, err, row.want)
			if row.err == nil {
				require.IsType(t, (*rueidis.RedisError)(nil), err)
			} else {
				require.ErrorIs(t, err, row.err)
			}
			refuse.Store(false)
			caseEchoes(t, c, 100)
		})
	}
}
