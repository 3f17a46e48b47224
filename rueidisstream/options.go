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
	snapshotOption
	scanOption
	smallOption
	rawOption
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
// default a stream goes to the primary, unless SendToReplicas says yes to any command, PING included. It has no effect on Copy
// of commands that reply with a string, which go where client.Do sends them.
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

// WithSnapshot makes Members, Fields, Scores, Elements and Entries read the key by one command, so that they give what it held at
// one moment, and stream its reply. That is the default: the option is for overriding an earlier WithScan. Keys is always a
// scan, and other functions ignore the option.
func WithSnapshot() Option { return Option{snapshotOption, 0} }

// WithScan makes Members, Fields, Scores, Elements and Entries read the key by pages of about count elements, one page ahead of
// the loop: no command holds the server longer than a page takes, and the connection is taken for a page at a time. In place
// of one moment, what was in the key throughout is given, and what came or went meanwhile may be.
//
// Sets, hashes, sorted sets and Keys take the pages of SSCAN, HSCAN, ZSCAN and SCAN, in the order of the server's hash table, that
// is in none. count is a hint to the server, and pages may be larger, smaller or empty. Each element comes once: those that
// the server repeats are known by a keyed hash of 96 bits, which takes 15 to 28 bytes for each element of the key, whatever
// its size. (That any two different ones among 2^32 are taken for each other has a probability of about 2^-33.) All pages come
// from one node, a primary, whatever ClientOption.SendToReplicas says; if INFO shows that another server answers at its
// address, to which the cursor means nothing, the scan begins anew there, and still gives each element once. On a cluster, all
// pages follow the key: if its slot moves, or its node fails over, the node is asked that has it then. A scan that has to begin anew
// more than 32 times ends with an error.
//
// Elements takes pages of LRANGE by index, from the head. An LPUSH or LPOP meanwhile shifts what follows, so that elements come
// twice or not at all; the loop ends at twice the length that the list had at its beginning at the latest. Entries
// takes pages of XRANGE by id, up to the last id at its beginning: none is lost or repeated.
//
// The pages are read by a goroutine, which has ended when the iterator returns. Leaving early waits for the page that is on its
// way. WithSmall and AllowReplica have no effect. A count of 0 or less means 512. The other functions
// of this package ignore the option.
func WithScan(count int) Option { return Option{scanOption, int64(count)} }

// WithSmall sets how many elements (of a hash or a sorted set: pairs) a key has at most for the fast path of Members, Fields,
// Scores, Elements and Entries. The first question then asks for so many, through client.Do, over the connection that the client's
// callers share, and goes where client.Do sends it, to a replica, too, if ClientOption.SendToReplicas says so. If the answer is all
// of the key, that is all: one round trip, and no connection to itself. If it is not, it is dropped and the key is streamed.
// The next time that question is not asked: which keys were large, and which small, is remembered, for the process, in a
// table of 16 KiB that forgets. So a set that was small is asked for by SRANDMEMBER, which gives all of a small one and no more
// than that of one that has become large, in less time than SSCAN. If the server refuses that, SSCAN is asked as before.
//
// So up to n elements, or all of a compact encoding of the server (listpack, intset), are in memory at a time. For keys
// whose elements have megabytes, or that are known to be big, 0 saves that and the first question. The default is 128; 0 or less
// turns the fast path off. It has no effect with WithScan, nor on Keys and other functions.
func WithSmall(n int) Option { return Option{smallOption, int64(n)} }

// WithRawErrors makes an error of the server that Do, Copy, Replies.Next, Values or Pairs return for a whole reply, or Members and its
// like for a key, keep the text that the server sent. By default it has no prefix "ERR ", as the errors of client.Do. It is for those
// who show the text to somebody else than rueidis does, or look for what comes after the prefix. It has no effect on Value.Error.
func WithRawErrors() Option { return Option{rawOption, 0} }

type config struct {
	drain  int64
	limits resp.Limits
	mode   wire.Mode
	ttl    Option // of expireOption, expireAtOption and keepTTLOption, the last; the zero Option if there is none
	scan   int64  // elements of a page; 0 for a snapshot
	raw    bool   // errors keep their prefix
	// patience is for how long commands that only read are sent again; 0 for as long as that may help.
	patience time.Duration
	small    int64   // elements of a key for the fast path; 0 turns it off
	size     keySize // of the key, for the fast path; the zero keySize is of none
}

func newConfig(opts []Option) config {
	c := config{drain: defaultDrain, limits: resp.Limits{MaxBytes: defaultMaxBytes, MaxDepth: defaultMaxDepth}, small: defaultSmall}
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
		case snapshotOption:
			c.scan = 0
		case scanOption:
			c.scan = defaultPage
			if o.n > 0 {
				c.scan = o.n
			}
		case smallOption:
			c.small = min(max(o.n, 0), maxSmall)
		case rawOption:
			c.raw = true
		}
	}
	return c
}
