package rueidisstream

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/internal/resp"
	"github.com/rueidisx/rueidisx/internal/seen"
)

// defaultPage is how many elements a page of WithScan has by default. SSCAN of so many takes a server about 0.1 ms (SSCAN COUNT
// 128 took 6 to 27 µs on Redis 6.0, 7.0, 8.0 and Valkey 9.1), which is what others wait, and about a round trip.
const defaultPage = 512

// page is some elements, in memory of its own.
type page struct {
	buf  []byte
	held []held
	err  error // what came in place of what follows the elements; the page is then the last one
}

// held is an element of a page. Its bytes lie in buf behind those of the element before, up to end.
type held struct {
	kind byte
	len  int64
	end  int
}

// pages are used again, by other scans as well.
var pages = sync.Pool{New: func() any { return new(page) }}

// release lets others use the page, unless it is so large that this would hold memory that hardly anybody needs.
func (p *page) release() {
	if p.reset(); cap(p.buf) <= 1<<20 && cap(p.held) <= 1<<15 {
		pages.Put(p)
	}
}

func (p *page) reset() { p.buf, p.held, p.err = p.buf[:0], p.held[:0], nil }

func (p *page) add(v Value) {
	p.buf = append(p.buf, v.e.Bytes...)
	p.held = append(p.held, held{v.e.Kind(), v.e.Len(), len(p.buf)})
}

func (p *page) value(i int) Value {
	from := 0
	if i > 0 {
		from = p.held[i-1].end
	}
	h := p.held[i]
	return Value{resp.NewElement(h.kind, h.len, p.buf[from:h.end:h.end])}
}

// pager reads the next page into p, which is empty. It returns whether there are more. With an error, what was read before
// it is in p.
type pager func(ctx context.Context, p *page) (more bool, err error)

// scanValues yields the elements of the pages.
func scanValues(ctx context.Context, next pager, yield func(Value, error) bool) {
	readAhead(ctx, next, func(p *page) bool {
		for i := range p.held {
			if !yield(p.value(i), nil) {
				return false
			}
		}
		if p.err != nil {
			yield(Value{}, p.err)
		}
		return true
	})
}

// scanPairs yields the elements of the pages by twos.
func scanPairs(ctx context.Context, next pager, yield func(Pair, error) bool) {
	readAhead(ctx, next, func(p *page) bool {
		for i := 0; i < len(p.held); i += 2 {
			if !yield(Pair{p.value(i), p.value(i + 1)}, nil) {
				return false
			}
		}
		if p.err != nil {
			yield(Pair{}, p.err)
		}
		return true
	})
}

// readAhead calls use for each page, until that returns false, while a goroutine reads the one behind it. The goroutine has
// ended when readAhead returns, also if use panics or ends its own goroutine: the page under way is waited for, not cancelled,
// so that its connection is kept.
func readAhead(ctx context.Context, next pager, use func(p *page) bool) {
	// There are two pages, and room for both in each channel, so that nobody waits to send.
	free, full := make(chan *page, 2), make(chan *page, 2)
	own := [2]*page{pages.Get().(*page), pages.Get().(*page)}
	free <- own[0]
	free <- own[1]
	var reader sync.WaitGroup
	var left atomic.Bool
	defer func() {
		reader.Wait()
		own[0].release()
		own[1].release()
	}()
	defer close(free)
	defer left.Store(true)
	reader.Go(func() {
		defer close(full)
		for p := range free {
			if left.Load() {
				return
			}
			p.reset()
			more, err := next(ctx, p)
			p.err = err
			full <- p
			if !more || err != nil {
				return
			}
		}
	})
	for p := range full {
		if !use(p) {
			return
		}
		free <- p
	}
}

// maxRestarts is how often one scan begins anew because another server answered.
const maxRestarts = 32

// cursorScan reads the pages of SCAN and its kin.
//
// A cursor is a place in the hash table of one server process. It means nothing to another one, be it a replica, the one
// after a failover or the same after a restart, which would leave elements out and say nothing. So the pages are asked of one
// node, and each with the identity of the process beside it.
type cursorScan struct {
	pinned
	opts     []Option
	build    func(c rueidis.Client, cursor uint64) rueidis.Completed
	width    int // 2 for pairs, of which the first makes them one
	cursor   uint64
	process  string // that cursor is of; "" where the server does not tell
	begun    bool
	restarts int
	broken   error // by which the last question's connection ended, if the same page is asked for again
	seen     *seen.Set
}

func newCursorScan(client rueidis.Client, key string, opts []Option, width int, build func(rueidis.Client, uint64) rueidis.Completed) *cursorScan {
	return &cursorScan{pinned: pinned{client: client, key: key}, opts: opts, build: build, width: width, seen: seen.New()}
}

func (s *cursorScan) next(ctx context.Context, p *page) (more bool, err error) {
	if more, err = s.page(ctx, p); err == nil {
		s.failed, s.broken = 0, nil
		return more, nil
	}
	if s.again(ctx, err) {
		return true, nil
	}
	node, ready := s.node, isNotReady(err)
	if !s.elsewhere(ctx, err) {
		return false, err
	}
	if node != nil && !ready { // it may be another node, even if that does not say so
		return s.restart()
	}
	return true, nil
}

// again tells whether to ask for the same page once more since its connection ended, which the elements that have come already do not
// suffer from. By its answer the server shows that it is still the same. (Of a cluster see elsewhere.)
func (s *cursorScan) again(ctx context.Context, err error) bool {
	if s.client != nil && s.client.Mode() == rueidis.ClientModeCluster || !s.begun || s.process == "" || !isClosed(err) ||
		ctx.Err() != nil || s.failed >= triesAtOnce {
		return false
	}
	s.failed++
	s.broken = err
	return pause(ctx, s.failed)
}

// restart begins the scan anew.
func (s *cursorScan) restart() (more bool, err error) {
	s.begun, s.cursor = false, 0
	if s.restarts++; s.restarts > maxRestarts {
		return false, fmt.Errorf("rueidisstream: another server answered %d times within one scan", s.restarts)
	}
	return true, nil
}

func (s *cursorScan) page(ctx context.Context, p *page) (more bool, err error) {
	c, err := s.pin(ctx)
	if err != nil {
		return false, err
	}
	replies := s.send(ctx, s.opts, c.B().Info().Section("server").Build(), s.build(c, s.cursor))
	defer replies.Close()
	process, err := s.identity(replies)
	if err != nil {
		return false, err
	}
	if s.begun && process != s.process {
		if s.broken != nil {
			return false, s.broken // it was restarted, and may have lost what was still to come
		}
		return s.restart() // the page belongs to no cursor of that server
	}
	s.begun, s.process = true, process
	r, err := s.answer(replies)
	if err != nil {
		return false, err
	}
	cursor, err := s.read(r, p)
	if err != nil {
		return false, err
	}
	s.cursor = cursor
	return s.cursor != 0, replies.Close()
}

// identity returns which process answers, or "" if it is not to be known: INFO may be refused to the user.
func (s *cursorScan) identity(replies *Replies) (string, error) {
	r, err := replies.Next()
	if err != nil {
		if fromServer(err) {
			return "", nil
		}
		return "", err
	}
	info, err := r.Value()
	if err != nil {
		return "", err
	}
	for line := range bytes.Lines(info.Bytes()) {
		if id, ok := bytes.CutPrefix(line, []byte("run_id:")); ok {
			return string(bytes.TrimSpace(id)), nil
		}
	}
	return "", nil
}

// read reads the reply of a page: the cursor, and the elements into p.
func (s *cursorScan) read(r *Reader, p *page) (cursor uint64, err error) {
	if h := r.Header(); h.Kind != KindArray || h.Len != 2 {
		return 0, errNotPage
	}
	if _, err := r.Next(); err != nil {
		return 0, err
	}
	v, err := r.Value()
	if err != nil {
		return 0, err
	}
	if cursor, err = v.AsUint64(); err != nil {
		return 0, fmt.Errorf("%w (cursor %.40q)", errNotPage, v.Bytes())
	}
	h, err := r.Next()
	if err != nil {
		return 0, err
	}
	if !h.Kind.IsAggregate() {
		return 0, errNotPage
	}
	if s.width == 1 {
		for v, err := range r.Values() {
			if err != nil {
				return 0, err
			}
			if s.seen.Add(v.Bytes()) {
				p.add(v)
			}
		}
		return cursor, nil
	}
	for pair, err := range r.Pairs() {
		if err != nil {
			return 0, err
		}
		if s.seen.Add(pair.Key.Bytes()) {
			p.add(pair.Key)
			p.add(pair.Value)
		}
	}
	return cursor, nil
}
