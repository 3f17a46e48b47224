package rueidisstream

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/redis/rueidis"
)

// entryScan reads a stream by pages of XRANGE by id.
type entryScan struct {
	pinned
	opts  []Option
	count int64
	from  entryID
	last  string // id of the last entry at the beginning, beyond which nothing is read: new ones might come for ever
}

func (s *entryScan) next(ctx context.Context, p *page) (more bool, err error) {
	if more, err = s.page(ctx, p); err == nil {
		s.failed = 0
		return more, nil
	}
	if s.elsewhere(ctx, err) { // an id means the same on each node
		return true, nil
	}
	return false, err
}

func (s *entryScan) page(ctx context.Context, p *page) (more bool, err error) {
	c, err := s.pin(ctx)
	if err != nil {
		return false, err
	}
	if s.last == "" {
		newest := c.B().Xrevrange().Key(s.key).End("+").Start("-").Count(1).Build()
		for v, err := range s.values(ctx, newest, s.opts) {
			if err != nil {
				return false, err
			}
			id, err := idOf(v)
			if err != nil {
				return false, err
			}
			s.last = id.String()
		}
		if s.last == "" {
			return false, nil
		}
	}
	cmd := c.B().Xrange().Key(s.key).Start(s.from.String()).End(s.last).Count(s.count).Build()
	n := int64(0)
	for v, err := range s.values(ctx, cmd, s.opts) {
		if err != nil {
			return false, err
		}
		id, err := idOf(v)
		if err != nil {
			return false, err
		}
		if id.less(s.from) {
			return false, fmt.Errorf("rueidisstream: %w: entry %s in a page from %s", ErrShape, id, s.from)
		}
		p.add(v)
		n++
		var ok bool
		if s.from, ok = id.successor(); !ok {
			return false, nil
		}
	}
	return n >= s.count, nil
}

// entryID is the id of a stream's entry.
type entryID struct{ ms, seq uint64 }

func (id entryID) String() string {
	return strconv.FormatUint(id.ms, 10) + "-" + strconv.FormatUint(id.seq, 10)
}

func (id entryID) less(other entryID) bool {
	return id.ms < other.ms || id.ms == other.ms && id.seq < other.seq
}

// successor returns the id behind id. "(" ids, which would do that on the server, are not known before Redis 6.2. There is none
// behind the last one.
func (id entryID) successor() (entryID, bool) {
	switch {
	case id.seq < math.MaxUint64:
		return entryID{id.ms, id.seq + 1}, true
	case id.ms < math.MaxUint64:
		return entryID{id.ms + 1, 0}, true
	}
	return id, false
}

// idOf returns the id of an entry.
func idOf(entry Value) (id entryID, err error) {
	for v, err := range entry.Values() {
		if err != nil {
			return id, err
		}
		ms, seq, _ := bytes.Cut(v.Bytes(), []byte("-"))
		if id.ms, err = strconv.ParseUint(string(ms), 10, 64); err == nil {
			id.seq, err = strconv.ParseUint(string(seq), 10, 64)
		}
		if err != nil {
			break
		}
		return id, nil
	}
	return id, fmt.Errorf("rueidisstream: %w: an entry without an id", ErrShape)
}

// listScan reads a list by pages of LRANGE by index.
type listScan struct {
	pinned
	opts     []Option
	count    int64
	at, stop int64 // of the next page; where the reading ends at the latest, 0 before the beginning
}

func (s *listScan) next(ctx context.Context, p *page) (more bool, err error) {
	if more, err = s.page(ctx, p); err == nil {
		s.failed = 0
		return more, nil
	}
	if s.elsewhere(ctx, err) {
		return true, nil
	}
	return false, err
}

func (s *listScan) page(ctx context.Context, p *page) (more bool, err error) {
	c, err := s.pin(ctx)
	if err != nil {
		return false, err
	}
	if s.stop == 0 {
		size, err := s.size(ctx, c)
		if err != nil || size == 0 {
			return false, err
		}
		s.stop = min(size, math.MaxInt64/2) * 2
	}
	count := min(s.count, s.stop-s.at)
	n := int64(0)
	for v, err := range s.values(ctx, c.B().Lrange().Key(s.key).Start(s.at).Stop(s.at+count-1).Build(), s.opts) {
		if err != nil {
			return false, err
		}
		p.add(v)
		n++
		s.at++ // for each one: if the page breaks off, the next one goes on behind it
	}
	return n >= count && s.at < s.stop, nil
}

// size returns the length of the list.
func (s *listScan) size(ctx context.Context, c rueidis.Client) (n int64, err error) {
	for v, err := range s.values(ctx, c.B().Llen().Key(s.key).Build(), s.opts) {
		if err != nil {
			return 0, err
		}
		if n, err = v.AsInt64(); err != nil {
			return 0, err
		}
	}
	return n, nil
}
