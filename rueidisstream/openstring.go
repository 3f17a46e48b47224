package rueidisstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"

	"github.com/redis/rueidis"
)

// ErrChanged is returned by a StringReader whose value was changed, replaced or deleted since OpenString, and by SetFrom if that
// happened to its temporary key. It comes wrapped with the position.
var ErrChanged = errors.New("rueidisstream: the value changed")

const (
	rangeBytes  = 256 << 10 // at most in one GETRANGE
	minAhead    = 64 << 10  // the first read-ahead of Read; each doubles the one before
	edgeBytes   = 512       // compared at both ends
	samples     = 32        // pieces compared in between, each at a random place of its own 32nd of the value
	sampleBytes = 32
)

// OpenString returns a reader of the string at key that can read anywhere in it, by GETRANGE: for http.ServeContent with its
// Range requests, archive/zip, or an io.SectionReader. To read a value from its beginning to its end, Do or Copy is better: one
// reply is a snapshot, which cannot change while it is read.
//
//	s, err := rueidisstream.OpenString(ctx, client, "video")
//	if err != nil { ... }
//	http.ServeContent(w, req, "video.mp4", modified, s)
//
// A missing key is rueidis.Nil and a key of another type the server's error WRONGTYPE, both unwrapped. The context rules all
// reads of the StringReader. There is nothing to close: it has no connection of its own. No Option has an effect yet, not AllowReplica
// either: replicas are not read.
func OpenString(ctx context.Context, client rueidis.Client, key string, opts ...Option) (*StringReader, error) {
	s := &StringReader{ctx: ctx, client: client, key: key}
	replies, err := s.ask(func(b rueidis.Builder) []rueidis.Completed {
		return []rueidis.Completed{
			b.Exists().Key(key).Build(),
			b.Strlen().Key(key).Build(),
			b.Getrange().Key(key).Start(0).End(edgeBytes - 1).Build(),
			b.Getrange().Key(key).Start(-edgeBytes).End(-1).Build(),
		}
	})
	if err != nil {
		return nil, s.failed(0, err)
	}
	for i := range replies {
		if err := replies[i].Error(); err != nil {
			return nil, err
		}
	}
	there, err1 := replies[0].ToInt64()
	size, err2 := replies[1].ToInt64()
	head, err3 := replies[2].ToString()
	tail, err4 := replies[3].ToString()
	edge := min(size, edgeBytes)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrProtocol, err)
	}
	if size < 0 || int64(len(head)) != edge || int64(len(tail)) != edge {
		return nil, fmt.Errorf("%w: length %d, %d and %d bytes of its ends", ErrProtocol, size, len(head), len(tail))
	}
	if there == 0 {
		return nil, rueidis.Nil
	}
	s.size, s.head, s.tail, s.places = size, head, tail, samplePlaces(size)
	return s, nil
}

// samplePlaces returns where a value of that size is looked at, beside its ends: nowhere if these are all of it.
func samplePlaces(size int64) []int64 {
	if size <= 2*edgeBytes {
		return nil
	}
	places := make([]int64, samples)
	for i := range places {
		from, to := size*int64(i)/samples, size*int64(i+1)/samples
		places[i] = from + rand.Int64N(to-from-sampleBytes+1) // a 32nd of more than 1 KiB has 32 bytes at least
	}
	return places
}

// StringReader reads a string in Redis. It is an io.ReaderAt, io.ReadSeeker and io.WriterTo. ReadAt may be called from several
// goroutines at a time; the other methods, which share a position, may not.
//
// Each read asks, in one transaction with its range, whether the value is still the one that OpenString saw. If it is not, the read
// returns ErrChanged, wrapped with the position, and none of its bytes; all later reads return that too. What is compared:
//
//   - The length. Deletion, expiry, eviction, another type, and every change of the length are noticed for certain.
//   - The first and the last 512 bytes. A change in them is noticed for certain, so any change of a value up to 1 KiB.
//   - 32 bytes at a random place in each 32nd of the value. Replacing a value by another one of the same length is noticed unless the
//     two agree in all of these places, which compressed, encrypted, image and the like data do not; so is a change of a sixteenth of the
//     value in one piece, if no byte in it stays what it was.
//
// The pieces in the middle are taken with the first read. What remains unnoticed is a change that keeps the length and touches none
// of the places (SETRANGE or SETBIT of a few bytes, a counter in the middle of a text), and a value that was changed and is back at
// what it was. Where that can happen, write values under keys that are not written again, or read with Do.
//
// Reads use the client's shared connections and one round trip for 256 KiB, which the client holds in memory. Read reads ahead, 64 KiB
// at first, twice as much with each further read of what follows, up to 256 KiB. A read whose connection turns out to have been closed
// is sent again, some times. An error of the server is returned unwrapped, any other wrapped with the position; after those, reading
// may go on. An access list has to allow MULTI, EXEC, EXISTS, STRLEN and GETRANGE.
type StringReader struct {
	ctx        context.Context
	client     rueidis.Client
	key        string
	size       int64
	head, tail string
	places     []int64 // of the samples; empty where head and tail are all of the value

	mu    sync.Mutex
	marks []string // what the first range found at places; nil before
	err   error    // ErrChanged, final

	pos     int64
	ahead   []byte // read already, from the offset aheadAt on
	aheadAt int64
	step    int64 // length of the last read-ahead
}

// Size returns the length of the value in bytes.
func (s *StringReader) Size() int64 { return s.size }

// ReadAt reads len(p) bytes from the offset off on, as io.ReaderAt says: fewer come with an error, which is io.EOF at the
// value's end. More than 256 KiB are read by several ranges.
func (s *StringReader) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, errors.New("rueidisstream: ReadAt of a negative offset")
	}
	if err := s.ended(off); err != nil {
		return 0, err
	}
	want := min(int64(len(p)), s.size-off)
	for done := int64(0); done < want; {
		b, err := s.fetch(off+done, min(want-done, rangeBytes))
		if err != nil {
			return int(done), err
		}
		done += int64(copy(p[done:], b))
	}
	if want < int64(len(p)) {
		return int(want), io.EOF
	}
	return int(want), nil
}

// Read reads up to len(p) bytes at the position of the StringReader. At the value's end it returns io.EOF.
func (s *StringReader) Read(p []byte) (int, error) {
	if err := s.ended(s.pos); err != nil {
		return 0, err
	}
	if len(p) == 0 {
		return 0, nil
	}
	b, err := s.next()
	if err != nil {
		return 0, err
	}
	n := copy(p, b)
	s.pos += int64(n)
	return n, nil
}

// Seek sets the position for Read and WriteTo, as io.Seeker says. It asks the server nothing. A position beyond the end is
// allowed; reads there return io.EOF.
func (s *StringReader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		offset += s.pos
	case io.SeekEnd:
		offset += s.size
	default:
		return 0, fmt.Errorf("rueidisstream: Seek with whence %d", whence)
	}
	if offset < 0 {
		return 0, errors.New("rueidisstream: Seek to a negative position")
	}
	s.pos = offset
	return offset, nil
}

// WriteTo writes the value from the position of the StringReader to its end to w, 256 KiB by 256 KiB, and returns how many bytes w took.
// An error of w comes back wrapped, a short write as io.ErrShortWrite.
func (s *StringReader) WriteTo(w io.Writer) (int64, error) {
	var total int64
	for {
		if err := s.ended(s.pos); err != nil {
			if err == io.EOF {
				err = nil
			}
			return total, err
		}
		b, err := s.next()
		if err != nil {
			return total, err
		}
		n, err := w.Write(b)
		if n < 0 || n > len(b) {
			n, err = 0, errors.New("the writer returned an impossible count")
		}
		if n < len(b) && err == nil {
			err = io.ErrShortWrite
		}
		s.pos, total = s.pos+int64(n), total+int64(n)
		if err != nil {
			return total, fmt.Errorf("rueidisstream: after %d bytes: %w", total, err)
		}
	}
}

// ended returns the error of a read at off that needs no bytes.
func (s *StringReader) ended(off int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil && off >= s.size {
		return io.EOF
	}
	return s.err
}

// next returns what was read ahead of the position, which is before the end, and reads it first if there is nothing.
func (s *StringReader) next() ([]byte, error) {
	if i := s.pos - s.aheadAt; i >= 0 && i < int64(len(s.ahead)) {
		return s.ahead[i:], nil
	}
	step := int64(minAhead)
	if s.ahead != nil && s.pos == s.aheadAt+int64(len(s.ahead)) {
		step = min(2*s.step, rangeBytes)
	}
	s.ahead = nil // before the next one is there
	b, err := s.fetch(s.pos, min(step, s.size-s.pos))
	if err != nil {
		return nil, err
	}
	s.ahead, s.aheadAt, s.step = b, s.pos, step
	return b, nil
}

// fetch returns n bytes at off, 0 <= off < off+n <= size, if the value is what it was.
func (s *StringReader) fetch(off, n int64) ([]byte, error) {
	replies, err := s.ask(func(b rueidis.Builder) []rueidis.Completed {
		get := func(from, to int64) rueidis.Completed { return b.Getrange().Key(s.key).Start(from).End(to).Build() }
		cmds := make([]rueidis.Completed, 0, 4+samples)
		cmds = append(cmds, b.Strlen().Key(s.key).Build(), get(off, off+n-1), get(0, edgeBytes-1), get(-edgeBytes, -1))
		for _, place := range s.places {
			cmds = append(cmds, get(place, place+sampleBytes-1))
		}
		return cmds
	})
	if err != nil {
		return nil, s.failed(off, err)
	}
	size, err := replies[0].ToInt64()
	if isRedisErr(err, "WRONGTYPE") {
		return nil, s.changed(off, "its type is another")
	}
	if err != nil {
		return nil, s.failed(off, err)
	}
	if size != s.size {
		return nil, s.changed(off, fmt.Sprintf("its length was %d and is %d", s.size, size))
	}
	pieces := make([]string, len(replies)-1)
	for i := range pieces {
		if pieces[i], err = replies[i+1].ToString(); err != nil {
			return nil, s.failed(off, err)
		}
	}
	if pieces[1] != s.head || pieces[2] != s.tail || !s.same(pieces[3:]) {
		return nil, s.changed(off, "its length is the same")
	}
	if int64(len(pieces[0])) != n {
		return nil, s.failed(off, fmt.Errorf("%w: %d bytes of GETRANGE instead of %d", ErrProtocol, len(pieces[0]), n))
	}
	return replies[1].AsBytes()
}

// same tells whether the samples are those of the first range, or takes them as such.
func (s *StringReader) same(pieces []string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.marks == nil {
		s.marks = pieces
	}
	for i := range pieces {
		if pieces[i] != s.marks[i] {
			return false
		}
	}
	return true
}

// changed makes ErrChanged final and returns it.
func (s *StringReader) changed(off int64, how string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = fmt.Errorf("%w (noticed at byte %d: %s)", ErrChanged, off, how)
	}
	return s.err
}

// failed returns the error of a range for the caller.
func (s *StringReader) failed(off int64, err error) error {
	if fromServer(err) {
		return err
	}
	return fmt.Errorf("rueidisstream: at byte %d: %w", off, cause(s.ctx, err))
}

// ask executes commands that only read in one transaction, and again if the connection turns out to have been closed.
func (s *StringReader) ask(build func(rueidis.Builder) []rueidis.Completed) ([]rueidis.RedisMessage, error) {
	for try := 0; ; try++ {
		replies, err := transact(s.ctx, s.client, build(s.client.B())...)
		if err == nil || !isClosed(err) || try+1 >= maxTries || !due(s.ctx, try) {
			return replies, err
		}
	}
}
