package rueidisbatch

import "github.com/rueidisx/rueidisx/rueidisstream"

const (
	// defaultChunk and defaultParallelism: of 100,000 keys, in parts of the time of one MGET (medians of 5, Redis 7.0.15 on the same
	// machine, and behind a proxy that adds 1 ms; benchmarks/results/batch-mget-large.txt, batch-latency-1ms.txt):
	//
	//	chunk    parallelism  1           2           3           4
	//	1024                  0.88 1.17   0.73 0.63   0.69 0.47   0.68 0.36
	//	2048                  0.81 1.11   0.68 0.64   0.68 0.46   0.62 0.36
	//	4096                  0.82 1.01   0.61 0.60   0.56 0.43   0.67 0.35
	//	8192                  0.69 0.91   0.61 0.57   0.62 0.41   0.57 0.35
	//
	// More than 4,096 gains nothing and holds the server for longer. More than 2 gains where the network is slow, and lets everybody
	// else wait for one chunk more: that is the caller's to choose.
	defaultChunk       = 4096
	defaultParallelism = 2
	// defaultSmall: up to there an MGET over the shared connection takes no longer than a stream; from 200 keys on MGetFunc by a
	// stream takes 0.8 to 0.9 of it (batch-mget-small.txt).
	defaultSmall = 64
	// maxParallelism is more than any pool is used for.
	maxParallelism = 1024
	// maxChunk is a number of words that every server takes in one command: above 1,048,576 some close the connection.
	maxChunk = 1 << 20
	// firstPage is how many entries Readdir asks for first, over the shared connection. Up to 512 entries come at once all the
	// same where the server keeps them in a compact encoding, as it does by default. Of a larger directory this page is dropped:
	// 512 entries of it took a server 250 µs, and the whole of 4,000 entries 2.8 ms.
	firstPage = 128
	// page is how many entries a page of HSCAN has at most, about.
	page = 4096
	// firstOfBytes is how many keys the first MGET has with WithChunkBytes, when nothing is known of their values.
	firstOfBytes = 16
)

// Option changes how keys are read. The zero Option changes nothing.
type Option struct {
	key optionKey
	n   int64
}

type optionKey byte

const (
	noOption optionKey = iota
	chunkOption
	chunkBytesOption
	parallelismOption
	smallOption
	snapshotOption
	wrongTypeOption
	partialOption
	replicaOption
)

// WithChunk sets how many keys one MGET has at most, and for Readdir about how many entries a page of names has: so long does
// the server serve nobody else. The default is 4096; 0 or less means the default, and more than 1,048,576 means that.
func WithChunk(keys int) Option { return Option{chunkOption, int64(keys)} }

// WithChunkBytes makes MGETs smaller than WithChunk says where values are big, so that a reply has about n bytes of values.
// Sizes are not known before: an MGET is sized by the mean of the values that this call has read so far, and the first
// ones have at most 16 keys. So single replies can be larger, the more values differ in size, and one value is
// never divided. The default is no limit; 0 or less means the default. It has no effect on requests within WithSmall.
func WithChunkBytes(n int64) Option { return Option{chunkBytesOption, n} }

// WithParallelism sets how many MGETs are on their way at a time, each on a connection of its own out of the client's pool
// for blocking commands and streams (ClientOption.BlockingPoolSize). With 1, MGet and MGetFunc start no goroutine. The default
// is 2; 0 or less means the default.
func WithParallelism(n int) Option { return Option{parallelismOption, int64(n)} }

// WithSmall sets how many keys MGet, MGetFunc and MGetSeq ask for at most by one MGET over the connection that all callers of
// the client share, with no goroutine, and all values in memory at a time. It does not make a command longer than WithChunk.
// For values of megabytes, 0 makes that a stream, too. The default is 64; 0 or less turns it off. It has no effect on Readdir.
func WithSmall(keys int) Option { return Option{smallOption, int64(keys)} }

// WithSnapshot makes Readdir read the names by one HGETALL, streamed, in place of pages of HSCAN: they are those of one moment,
// and none has to be remembered, but the server serves nobody else while it writes them. The attributes are read after
// the names, and are no part of that moment. It has no effect on other functions.
func WithSnapshot() Option { return Option{snapshotOption, 0} }

// WithWrongType says what a key is that holds something else than a string, for which MGET has the same null as for a
// missing one. The default is WrongTypeMissing.
func WithWrongType(w WrongType) Option { return Option{wrongTypeOption, int64(w)} }

// WithPartial makes MGet and MGetFunc go on when an MGET fails, and give all that could be read. Their error is then all
// RangeErrors, joined by errors.Join, and they stop early only when the context is done or fn fails. It has no effect on other
// functions.
func WithPartial() Option { return Option{partialOption, 0} }

// AllowReplica lets the client send MGETs to a replica if its ClientOption.SendToReplicas says so for the command. By default they
// go to the primary, but for what goes over the shared connection (WithSmall, and the first question of Readdir), which is sent
// where client.Do sends it. On a cluster it makes all values come over the shared connections. The names of a large
// directory come from a primary in any case.
func AllowReplica() Option { return Option{replicaOption, 0} }

// WrongType says what a key is that holds something else than a string.
type WrongType byte

const (
	// WrongTypeMissing makes it the same as a missing key, as for MGET itself. No further command is needed.
	WrongTypeMissing WrongType = iota
	// WrongTypeError makes it an error that is ErrWrongType. For each key that MGET has a null for, a TYPE is sent, in a pipeline.
	WrongTypeError
	// WrongTypeMark marks it by Item.WrongType or Dirent.WrongType. TYPE is sent as for WrongTypeError, and for MGet and MGetFunc,
	// which have no room for a mark, it is WrongTypeError.
	WrongTypeMark
)

type config struct {
	chunk       int
	chunkBytes  int64 // 0 is no limit
	parallelism int
	small       int
	snapshot    bool
	partial     bool
	replica     bool
	wrong       WrongType
}

func newConfig(opts []Option) config {
	c := config{chunk: defaultChunk, parallelism: defaultParallelism, small: defaultSmall}
	for _, o := range opts {
		switch o.key {
		case chunkOption:
			c.chunk = int(positive(o.n, defaultChunk, maxChunk))
		case chunkBytesOption:
			c.chunkBytes = max(o.n, 0)
		case parallelismOption:
			c.parallelism = int(positive(o.n, defaultParallelism, maxParallelism))
		case smallOption:
			c.small = int(min(max(o.n, 0), maxChunk))
		case snapshotOption:
			c.snapshot = true
		case wrongTypeOption:
			c.wrong = WrongType(o.n)
		case partialOption:
			c.partial = true
		case replicaOption:
			c.replica = true
		}
	}
	c.small = min(c.small, c.chunk)
	return c
}

func positive(n, otherwise, most int64) int64 {
	if n <= 0 {
		return otherwise
	}
	return min(n, most)
}

// streamOptions are the options of a stream.
func (c *config) streamOptions() []rueidisstream.Option {
	if c.replica {
		return []rueidisstream.Option{rueidisstream.AllowReplica()}
	}
	return nil
}
