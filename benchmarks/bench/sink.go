package main

import (
	"fmt"
	"hash/crc32"
)

// want is what a reply has.
type want struct {
	elements int64
	bytes    int64
	sum      uint64 // of the CRC-32 of the elements, in any order
}

func (w *want) add(elements ...string) {
	for _, e := range elements {
		w.elements++
		w.bytes += int64(len(e))
		w.sum += uint64(crc32.ChecksumIEEE([]byte(e)))
	}
}

// sink is where an implementation brings what it has read. While it is measured only the lengths are looked at; before that,
// all bytes.
type sink struct {
	want
	check bool
	crc   uint32 // of a string of which pieces have come
}

func (s *sink) see(b []byte) {
	s.elements++
	s.bytes += int64(len(b))
	if s.check {
		s.hash(b)
	}
}

func (s *sink) seeString(v string) {
	s.elements++
	s.bytes += int64(len(v))
	if s.check {
		s.hash([]byte(v))
	}
}

//go:noinline
func (s *sink) hash(b []byte) { s.sum += uint64(crc32.ChecksumIEEE(b)) }

// same compares what was seen with what had to be.
func (s *sink) same(w want) error {
	if !s.check {
		w.sum = s.sum
	}
	if s.want != w {
		return fmt.Errorf("read %d elements of %d bytes with the sum %x, not %d of %d with %x", s.elements, s.bytes, s.sum, w.elements, w.bytes, w.sum)
	}
	return nil
}

// piece is a part of a string that comes in pieces; written ends the string.
func (s *sink) piece(p []byte) { s.crc = crc32.Update(s.crc, crc32.IEEETable, p) }

// written notes that a string of n bytes has come.
func (s *sink) written(n int64) {
	s.elements++
	s.bytes += n
	if s.check {
		s.sum += uint64(s.crc)
		s.crc = 0
	}
}
