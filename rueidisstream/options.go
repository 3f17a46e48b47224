package rueidisstream

import (
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

type config struct {
	drain  int64
	limits resp.Limits
	mode   wire.Mode
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
		}
	}
	return c
}
