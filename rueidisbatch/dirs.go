package rueidisbatch

import (
	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/internal/hints"
)

// dirs remembers whether directories were small when they were listed last. It is one for the process, since there is nothing that
// lives as long as a client where it could be kept. What it says decides what is asked first, never what comes out.
var dirs hints.Table

// The hints of dirs. A directory of which nothing is known is as one that is open.
const (
	isOpen  = iota // the first page of HSCAN tells whether it is small
	isSmall        // HRANDFIELD for one more than few tells, in less than half of the time
	isBig          // it is not small
)

// few is how many entries a directory has at most to be small. Redis 7.0 took 160 to 200 µs for an HSCAN of 500 entries, 62 for
// an HRANDFIELD, and 408 for one that asks 4,000 for 513; of 100 entries, 43 and 20.
const few = 512

// known is what dirs has of one directory, for one limit.
type known struct {
	sum   uint64
	limit int // of entries, to be small
}

func (l *listing) known() known {
	limit := min(few, l.cfg.chunk)
	return known{hints.Sum(uint64(limit), l.dir), limit}
}

func (k known) hint() byte {
	hint, _ := dirs.Get(k.sum)
	return hint
}

// found notes how many entries there were.
func (k known) found(entries int) {
	hint, ok := dirs.Get(k.sum)
	switch {
	case entries > k.limit:
		dirs.Put(k.sum, isBig)
	case !ok || hint == isBig:
		dirs.Put(k.sum, isSmall)
	}
}

// refused notes that the server, or this user, may not have HRANDFIELD: it is not tried again.
func (k known) refused() { dirs.Put(k.sum, isOpen) }

// random asks for as many entries as a small directory has at most, and one more, at random. Those of a small directory are all.
// They are flat, as HSCAN gives them; ok is false if they are not all, or it was refused.
func (l *listing) random() (fields []rueidis.RedisMessage, ok bool, err error) {
	cmd := l.client.B().Hrandfield().Key(l.dir).Count(int64(l.seen.limit) + 1).Withvalues().Build()
	reply, err := l.client.Do(l.ctx, cmd).ToArray()
	if fromServer(err) {
		l.seen.refused()
		return nil, false, nil
	}
	if err != nil {
		return nil, false, sendError(l.ctx, err)
	}
	if len(reply) == 0 || !reply[0].IsArray() {
		fields = reply // RESP2
	}
	for i := range reply[len(fields):] {
		pair, err := reply[i].ToArray()
		if err != nil || len(pair) != 2 {
			return nil, false, errNoPair
		}
		fields = append(fields, pair...)
	}
	if len(fields)%2 != 0 {
		return nil, false, errNoPair
	}
	l.seen.found(len(fields) / 2)
	return fields, len(fields)/2 <= l.seen.limit, nil
}
