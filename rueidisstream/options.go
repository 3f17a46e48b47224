package rueidisstream

import (
	"time"

	"github.com/rueidisx/rueidisx/internal/resp"
	"github.com/rueidisx/rueidisx/internal/wire"
)

const (
	defaultDrain    = 256 << 10
	defaultMaxBytes = 512 << 20
	defaultMaxDepth = 128
)

// Option changes how a reply is read. The zero Option changes nothing.
type Option struct {
	key optionKey
	n   int64
}

type optionKey byte

const (
	noOption optionKey = iota
	drainOption
	maxBytesOption
	maxDepthOption
	replicaOption
	expireOption
	expireAtOption
	keepTTLOption
)

// WithDrain sets how many bytes of an unread reply are read at most to keep the connection when a reply is left early. Beyond
// that the connection is closed, and the pool dials another one when it needs one. Draining waits for the bytes if they have
// not arrived. The default is 256 KiB; 0 or less means that a connection with an unread reply is closed at once.
func WithDrain(n int) Option { return Option{drainOption, int64(n)} }

// WithMaxBytes sets how many bytes one element may have that is assembled in memory, an aggregate with all that it holds
// included. A larger one is ErrTooBig. It does not limit Reader.Read, Reader.WriteTo and Copy, which assemble nothing. The
// default is 512 MiB, which is also what Redis allows in a string; 0 or less means the default.
func WithMaxBytes(n int64) Option { return Option{maxBytesOption, n} }

// WithMaxDepth sets how deep aggregates may be nested; deeper is ErrTooBig. The default is 128; 0 or less means the default.
func WithMaxDepth(n int) Option { return Option{maxDepthOption, int64(n)} }

// AllowReplica lets the client send the command to a replica if its ClientOption.SendToReplicas says so for the command. By
// default a stream goes to the primary. It has no effect on Copy of commands that reply with a string, which go where client.Do sends them.
func AllowReplica() Option { return Option{replicaOption, 0} }

// WithExpire makes SetFrom give the key a time to live, counted from the last step, as SET with PX does, in whole milliseconds.
// Less than a millisecond is an error. By default the key has no time to live afterwards, whatever it had before, as with
// SET. Of WithExpire, WithExpireAt and WithKeepTTL the last one counts. It has no effect on reading.
func WithExpire(d time.Duration) Option { return Option{expireOption, d.Milliseconds()} }

// WithExpireAt makes SetFrom let the key expire at t, as SET with PXAT does, in whole milliseconds. A time that has passed is
// an error, where SET would delete the key. See WithExpire for the default. It has no effect on reading.
func WithExpireAt(t time.Time) Option { return Option{expireAtOption, t.UnixMilli()} }

// WithKeepTTL makes SetFrom leave the key the expiry that it has at the last step, or none, as SET with KEEPTTL does. The last step
// then takes a connection out of the client's pool for blocking commands for two round trips, to WATCH the key; its wait for a
// connection does not end with the context. See WithExpire for the default. It has no effect on reading.
func WithKeepTTL() Option { return Option{keepTTLOption, 0} }

type config struct {
	drain  int64
	limits resp.Limits
	mode   wire.Mode
	ttl    Option // of expireOption, expireAtOption and keepTTLOption, the last; the zero Option if there is none
}

func newConfig(opts []Option) config {
	c := config{drain: defaultDrain, limits: resp.Limits{MaxBytes: defaultMaxBytes, MaxDepth: defaultMaxDepth}}
	for _, o := range opts {
		switch o.key {
		case drainOption:
			c.drain = max(o.n, 0)
		case maxBytesOption:
			if o.n > 0 {
				c.limits.MaxBytes = o.n
			}
		case maxDepthOption:
			if o.n > 0 {
				c.limits.MaxDepth = int(o.n)
			}
		case replicaOption:
			c.mode = wire.ReadOnly
		case expireOption, expireAtOption, keepTTLOption:
			c.ttl = o
		}
	}
	return c
}
