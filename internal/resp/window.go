package resp

import (
	"bufio"
	"bytes"
	"io"
	"slices"
)

// spillStep is the least that the spill buffer grows by; beyond that it doubles, so that memory follows the bytes received.
const spillStep = 64 << 10

// window is the part of the input that is in memory in one piece.
//
//	0 <= mark <= pos <= len(buf)
//
// buf[mark:pos], the region, is parsed but still referred to; buf[pos:] is not parsed yet. Reading more moves the region to
// the front, so offsets that outlive a call of more or moreLine are kept relative to mark.
type window struct {
	br   *bufio.Reader
	wait func() error // called before a read that may block; the first time br is empty; may be nil

	// buf is all that br has buffered, in place; while spilled it is spill, which ends where br goes on.
	buf       []byte
	mark, pos int
	spill     []byte
	spilled   bool
	waited    bool
	taken     int64 // bytes that br has given up for good
}

func (w *window) reset(br *bufio.Reader, wait func() error) {
	spill := w.spill
	if cap(spill) > 1<<20 {
		spill = nil
	}
	*w = window{br: br, wait: wait, spill: spill[:0]}
	w.view()
}

// offset is the number of bytes parsed since reset.
func (w *window) offset() int64 {
	if w.spilled {
		return w.taken - int64(len(w.buf)-w.pos)
	}
	return w.taken + int64(w.pos)
}

// free ends the region: what was parsed is no longer referred to.
func (w *window) free() {
	w.mark = w.pos
	if w.spilled && w.pos == len(w.buf) {
		w.spilled = false
		w.view()
	}
}

// sync lets br stand at pos, so that others can read from it; view takes up again.
func (w *window) sync() {
	w.free()
	w.drop(w.pos)
}

func (w *window) view() {
	w.buf, _ = w.br.Peek(w.br.Buffered())
	w.mark, w.pos = 0, 0
}

// drop lets br give up the first n bytes of the window.
func (w *window) drop(n int) {
	_, _ = w.br.Discard(n) // they are buffered
	w.taken += int64(n)
	w.buf = w.buf[n:]
	w.mark, w.pos = max(w.mark-n, 0), max(w.pos-n, 0)
}

// hold moves the window up to stop into the spill buffer, where it can be edited and can outgrow br's buffer.
func (w *window) hold(stop int) {
	if w.spilled {
		return
	}
	mark := w.mark
	w.drop(mark)
	stop -= mark
	w.spill = append(w.spill[:0], w.buf[:stop]...)
	_, _ = w.br.Discard(stop) // they are buffered
	w.taken += int64(stop)
	w.buf, w.spilled = w.spill, true
}

// more waits until the window has at least n bytes more; while spilled it takes just these.
func (w *window) more(n int) error {
	if err := w.room(n); err != nil || !w.spilled {
		return err
	}
	for n > 0 {
		have := len(w.spill)
		step := min(n, max(have, spillStep))
		if b := w.br.Buffered(); b > 0 {
			step = min(step, b)
		} else if err := w.pause(); err != nil {
			return err
		}
		w.spill = slices.Grow(w.spill, step)[:have+step]
		got, err := io.ReadFull(w.br, w.spill[have:])
		w.spill = w.spill[:have+got]
		w.buf = w.spill
		w.taken += int64(got)
		if err != nil {
			return unexpected(err)
		}
		n -= got
	}
	return nil
}

// moreLine waits until the window has at least one byte more; while spilled it takes none beyond the end of the line.
func (w *window) moreLine() error {
	if err := w.room(1); err != nil || !w.spilled {
		return err
	}
	if err := w.fill(); err != nil {
		return err
	}
	b, _ := w.br.Peek(w.br.Buffered())
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		b = b[:i+1]
	}
	w.spill = append(w.spill, b...)
	w.buf = w.spill
	w.taken += int64(len(b))
	_, _ = w.br.Discard(len(b)) // they are buffered
	return nil
}

// room makes the n bytes that follow the window part of it, unless they have to go into the spill buffer.
func (w *window) room(n int) error {
	if w.spilled {
		return nil
	}
	w.drop(w.mark)
	first := w.wait != nil && !w.waited && len(w.buf) > 0
	if first || n > w.br.Size()-len(w.buf) {
		w.hold(len(w.buf))
		return nil
	}
	if err := w.pause(); err != nil {
		return err
	}
	pos := w.pos
	_, err := w.br.Peek(len(w.buf) + n)
	w.view()
	w.pos = pos
	return unexpected(err)
}

// fill waits until br has something buffered.
func (w *window) fill() error {
	if w.br.Buffered() > 0 {
		return nil
	}
	if err := w.pause(); err != nil {
		return err
	}
	_, err := w.br.Peek(1)
	return unexpected(err)
}

func (w *window) pause() error {
	if w.wait == nil {
		return nil
	}
	w.waited = true
	return w.wait()
}

// cut takes buf[from:pos] out of the region. The window must be spilled up to pos.
func (w *window) cut(from int) {
	w.spill = append(w.spill[:from], w.spill[w.pos:]...)
	w.buf, w.pos = w.spill, from
}

// splice puts b in place of buf[from:to], which is before pos. The window must be spilled.
func (w *window) splice(from, to int, b []byte) {
	w.spill = slices.Replace(w.spill, from, to, b...)
	w.buf = w.spill
	w.pos += len(b) - (to - from)
}

// unexpected turns the end of the input, which nobody may take for the end of a reply, into io.ErrUnexpectedEOF.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
