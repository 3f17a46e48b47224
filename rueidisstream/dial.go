package rueidisstream

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/internal/wire"
)

// Dial returns opt so changed that the streams of a client that is made of it
//
//   - are interrupted at once when their context is cancelled, also while they wait for the first byte of the reply; and
//   - end with ErrStalled when a reply is due and the connection is silent for longer than ClientOption.ConnWriteTimeout (up to an
//     eighth more, counted from the last byte). Before the first byte of the reply to a command that rueidis knows to
//     block, such as BLPOP, silence has no limit. A ConnWriteTimeout of less than 0 means no limit at all.
//
// Neither a stream that takes long nor a slow consumer is an error. It is for where the client is made, once:
//
//	client, err := rueidis.NewClient(rueidisstream.Dial(rueidis.ClientOption{InitAddress: addresses}))
//
// It sets ClientOption.DialCtxFn to a function that dials as rueidis would, by opt's own DialCtxFn or DialFn if there is one, and
// watches over the connection. All else of opt stays as it is, and client.Do and the like work as before.
//
// What is not interrupted is the sending of commands that are larger than the buffers of the network: ConnWriteTimeout alone bounds
// that, as ever. With a client of Dial, Copy goes to a replica only if ClientOption.SendToReplicas says yes to PING as well. Once such a
// client has connected, Copy goes by DoMultiStream in place of DoStream, and that of other clients in the same process sends two
// PINGs before its command.
func Dial(opt rueidis.ClientOption) rueidis.ClientOption {
	dial := dialer(&opt)
	silence, noDelay := silenceOf(&opt), !opt.DisableTCPNoDelay
	opt.DialCtxFn = func(ctx context.Context, addr string, d *net.Dialer, config *tls.Config) (net.Conn, error) {
		conn, err := dial(ctx, addr, d, config)
		if err != nil {
			return nil, err
		}
		if !noDelay {
			delay(conn)
		}
		return wire.NewLine(conn, silence), nil
	}
	return opt
}

type dialFunc = func(ctx context.Context, addr string, d *net.Dialer, config *tls.Config) (net.Conn, error)

// dialer returns what rueidis would dial with.
func dialer(opt *rueidis.ClientOption) dialFunc {
	if opt.DialCtxFn != nil {
		return opt.DialCtxFn
	}
	if fn := opt.DialFn; fn != nil {
		return func(_ context.Context, addr string, d *net.Dialer, config *tls.Config) (net.Conn, error) {
			return fn(addr, d, config)
		}
	}
	return func(ctx context.Context, addr string, d *net.Dialer, config *tls.Config) (net.Conn, error) {
		if config != nil {
			return (&tls.Dialer{NetDialer: d, Config: config}).DialContext(ctx, "tcp", addr)
		}
		return d.DialContext(ctx, "tcp", addr)
	}
}

// silenceOf returns ConnWriteTimeout as rueidis will have it.
func silenceOf(opt *rueidis.ClientOption) time.Duration {
	if opt.ConnWriteTimeout == 0 {
		return max(rueidis.DefaultTCPKeepAlive, opt.Dialer.KeepAlive) * 10
	}
	return opt.ConnWriteTimeout
}

// delay does what ClientOption.DisableTCPNoDelay is for. rueidis does it to the connections that callers share, but does not see
// what kind of connection it is in a wire.Line.
func delay(conn net.Conn) {
	if c, ok := conn.(*tls.Conn); ok {
		conn = c.NetConn()
	}
	if c, ok := conn.(*net.TCPConn); ok {
		_ = c.SetNoDelay(false) // as rueidis, which does not mind either
	}
}
