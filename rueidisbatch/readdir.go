package rueidisbatch

import (
	"context"
	"fmt"
	"iter"

	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/rueidisstream"
)

// Dirent is an entry of a directory.
type Dirent struct {
	// Name and Value are the field and value of the directory's hash.
	Name, Value []byte
	// Attr is what the key of the entry's attributes holds: nil if there is no such key, or the KeyFunc gave none.
	Attr []byte
	// WrongType tells that the key of the attributes holds another type than a string. It is set with
	// WithWrongType(WrongTypeMark) only.
	WrongType bool
}

// KeyFunc appends the key of the attributes of e to dst and returns the result, as append does. If it returns dst unchanged, e
// has no attributes. Of e, only Name and Value are set, and they are valid only until it returns.
type KeyFunc func(dst []byte, e Dirent) []byte

// Readdir returns the entries of the directory whose names are the fields of the hash dir, each joined with the string at the key
// that attrKey makes of it. With a nil attrKey it returns names and values only. A missing hash has no entries.
//
//	for e, err := range rueidisbatch.Readdir(ctx, client, "d1", func(dst []byte, e rueidisbatch.Dirent) []byte {
//		return strconv.AppendUint(append(dst, 'i'), binary.BigEndian.Uint64(e.Value[1:]), 10)
//	}) {
//		if err != nil {
//			return err
//		}
//		list(e.Name, e.Attr)
//	}
//
// A small directory, up to 128 entries or what the server keeps in a compact encoding (by default 512 entries with names and values
// of up to 64 bytes), is two commands over the connection that all callers share: an HSCAN whose first page is all of it,
// and an MGET. Of one that has no more names than a page (4096, or WithChunk if that is less) the names come by one HGETALL, which
// takes a server about half of the time of such a page. Of a larger one they come by pages of HSCAN, which are read ahead while
// the MGETs of earlier pages are on their way (WithParallelism). First entries come long before the last name is known, no command holds the server for longer than
// WithChunk says, and what is in memory are no more than WithParallelism + 2 chunks of entries, beside 20 bytes, about, for each
// name that has come. By them each name comes once, although the server repeats some while the hash grows or
// shrinks. Names that are there throughout come; those that come or go meanwhile may. WithSnapshot reads the names by one
// command instead. There is no order.
//
// Attributes are read after the names. A key that is gone by then is Attr == nil, which an empty string is not.
//
// Commands are sent when the iterator is ranged over, each time anew. At most one error comes, as the last thing: from
// the names, that of rueidisstream.Fields, the server's own unwrapped; from the attributes, a *RangeError whose range counts the
// entries that have an attribute key. Leaving early costs the pages and MGETs under way. No goroutine that was started
// outlives the loop, however that ends.
//
// Entries are valid only until the next iteration or call; copy with String or Append.
func Readdir(ctx context.Context, client rueidis.Client, dir string, attrKey KeyFunc, opts ...Option) iter.Seq2[Dirent, error] {
	cfg := newConfig(opts)
	return func(yield func(Dirent, error) bool) {
		l := &listing{ordered: newOrdered(newSource(ctx, client, cfg)), dir: dir, attrKey: attrKey, yield: yield}
		defer l.close()
		if l.small() {
			return
		}
		l.large()
	}
}

// listing is one Readdir.
type listing struct {
	*ordered
	dir     string
	attrKey KeyFunc
	yield   func(Dirent, error) bool
	w       *window // being filled
	size    int     // entries that w shall have
	held    bool    // the names come on a connection that is held
}

func (l *listing) fail(err error) { l.yield(Dirent{}, err) }

// small asks for the first page over the shared connection. If that is all of the directory, it gives it out and returns true.
func (l *listing) small() bool {
	count := int64(min(firstPage, l.cfg.chunk))
	reply, err := l.client.Do(l.ctx, l.client.B().Hscan().Key(l.dir).Cursor(0).Count(count).Build()).ToArray()
	if err != nil {
		l.fail(sendError(l.ctx, err))
		return true
	}
	if len(reply) != 2 || !reply[0].IsString() || !reply[1].IsArray() {
		l.fail(fmt.Errorf("%w: not a cursor and a page", ErrReply))
		return true
	}
	if cursor, _ := reply[0].ToString(); cursor != "0" {
		return false
	}
	fields, _ := reply[1].ToArray()
	if len(fields)%2 != 0 {
		l.fail(fmt.Errorf("%w: a name without a value", ErrReply))
		return true
	}
	l.direct = true
	for len(fields) > 0 {
		n := min(len(fields)/2, l.cfg.chunk)
		if !l.smallChunk(fields[:2*n]) {
			return true
		}
		fields = fields[2*n:]
	}
	return true
}

// smallChunk gives out entries that were read over the shared connection.
func (l *listing) smallChunk(fields []rueidis.RedisMessage) bool {
	l.w = windows.Get().(*window)
	for i := 0; i < len(fields); i += 2 {
		name, err := fields[i].AsBytes()
		if err == nil {
			var value []byte
			if value, err = fields[i+1].AsBytes(); err == nil {
				l.add(name, value)
				continue
			}
		}
		l.fail(fmt.Errorf("%w: %w", ErrReply, err))
		return false
	}
	l.submit()
	return l.give()
}

// onePage tells whether all names are no more than a page has. One HGETALL then takes the server less time than the page of HSCAN,
// which is what others have to wait for.
func (l *listing) onePage() bool {
	n, err := l.client.Do(l.ctx, l.client.B().Hlen().Key(l.dir).Build()).AsInt64()
	return err == nil && n <= int64(min(page, l.cfg.chunk)) // an error comes again, with the names
}

// large reads the names by pages, or by one streamed reply.
func (l *listing) large() {
	names := rueidisstream.Fields(l.ctx, l.client, l.dir, rueidisstream.WithScan(min(page, l.cfg.chunk)))
	if l.cfg.snapshot || l.onePage() {
		l.held = true
		names = rueidisstream.Pairs(l.ctx, l.client, l.client.B().Hgetall().Key(l.dir).Build(), l.options...)
	}
	l.w, l.size = windows.Get().(*window), l.ramp()
	for p, err := range names {
		if err != nil {
			l.rest(err)
			return
		}
		if len(l.w.entries) >= l.size {
			for l.full() || l.ready() {
				if !l.give() {
					return
				}
			}
			l.submit()
			l.w, l.size = windows.Get().(*window), l.ramp()
		}
		l.add(p.Key.Bytes(), p.Value.Bytes())
	}
	l.rest(nil)
}

// rest gives out what is left, and then err.
func (l *listing) rest(err error) {
	l.held = false
	if len(l.w.entries) > 0 {
		l.submit()
	}
	for len(l.flight) > 0 {
		if !l.give() {
			return
		}
	}
	if err != nil {
		l.fail(err)
	}
}

func (l *listing) add(name, value []byte) {
	l.w.add(name, value, l.w.addKey(Dirent{Name: name, Value: value}, l.attrKey))
}

func (l *listing) submit() {
	l.w.cutKeys()
	l.hand(l.w)
}

// give gives out the oldest window. It tells whether to go on.
func (l *listing) give() bool {
	w := l.oldest(l.held)
	if w.err != nil {
		l.fail(ranged(w.err, len(w.keys), func(i int) int { return l.given + i }))
		return false
	}
	from := 0
	for _, e := range w.entries {
		d := Dirent{Name: w.arena[from:e.nameEnd:e.nameEnd], Value: w.arena[e.nameEnd:e.valueEnd:e.valueEnd]}
		if e.key >= 0 {
			d.Attr, d.WrongType = w.value(e.key)
		}
		from = e.valueEnd
		if !l.yield(d, nil) {
			return false
		}
	}
	l.given += len(w.keys)
	l.release(w)
	return true
}
