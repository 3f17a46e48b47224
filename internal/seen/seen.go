// Package seen tells what came before from what is new, for many byte strings, in little memory: by keyed hashes of 96 bits.
//
// The hashes lie in segments of a fixed size, open-addressed, which the front bits of the hash choose. A segment that is full is
// split in two by the next bit, in place: nothing else is copied, and no garbage is left but an old directory. So memory
// grows by small steps, to 15 to 28 bytes for each string.
//
// That two different strings are taken for each other has a probability of about n²/2^97 for n strings: 2^-33 for 2^32. Nobody can
// choose strings for which it is larger, since the keys of the hash are random and stay here.
package seen

import "hash/maphash"

const (
	slotBits = 12
	slots    = 1 << slotBits
	most     = slots * 7 / 8 // hashes in a segment
	// small is how many hashes lie in a Go map at first, which is cheaper than a segment.
	small = 256
)

// Set is a set of strings. The zero Set is not usable; see New. It is not for concurrent use.
type Set struct {
	seeds [2]maphash.Seed
	few   map[hash]struct{} // nil once there are segments
	dir   []*segment        // indexed by the depth front bits of a hash; a segment may stand at several places
	depth int
	n     int
}

// hash is 96 bits. low is never 0, which marks a free slot.
type hash struct {
	low  uint64 // its front bits choose the segment, its last ones the slot
	high uint32
}

type segment struct {
	depth int // how many front bits all its hashes have in common
	n     int
	low   [slots]uint64
	high  [slots]uint32
}

// New returns an empty set.
func New() *Set {
	return &Set{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, few: map[hash]struct{}{}}
}

// Len returns how many strings were added.
func (s *Set) Len() int { return s.n }

// Add adds b and tells whether it is new.
func (s *Set) Add(b []byte) bool {
	h := hash{maphash.Bytes(s.seeds[0], b), uint32(maphash.Bytes(s.seeds[1], b))}
	if h.low == 0 {
		h.low = 1
	}
	if !s.add(h) {
		return false
	}
	s.n++
	return true
}

func (s *Set) add(h hash) bool {
	if s.few != nil {
		before := len(s.few)
		s.few[h] = struct{}{}
		if len(s.few) > small {
			s.spread()
		}
		return s.few == nil || len(s.few) > before
	}
	for {
		seg := s.dir[h.low>>(64-s.depth)]
		i, found := seg.find(h)
		switch {
		case found:
			return false
		case seg.n < most:
			seg.low[i], seg.high[i] = h.low, h.high
			seg.n++
			return true
		}
		s.split(seg, h)
	}
}

// spread moves the few into the first segment.
func (s *Set) spread() {
	few := s.few
	s.few, s.dir = nil, []*segment{new(segment)}
	for h := range few {
		s.add(h)
	}
}

// find returns the slot of h, or the free one where it belongs.
func (seg *segment) find(h hash) (slot int, found bool) {
	i := int(h.low & (slots - 1))
	for seg.low[i] != 0 {
		if seg.low[i] == h.low && seg.high[i] == h.high {
			return i, true
		}
		i = (i + 1) & (slots - 1)
	}
	return i, false
}

// split divides the segment in which h belongs in two.
func (s *Set) split(old *segment, h hash) {
	if old.depth == s.depth {
		dir := make([]*segment, 2*len(s.dir))
		for i, seg := range s.dir {
			dir[2*i], dir[2*i+1] = seg, seg
		}
		s.dir = dir
		s.depth++
	}
	// The places of the segment in the directory are a run, whose second half is the other's.
	width := 1 << (s.depth - old.depth)
	first := int(h.low>>(64-s.depth)) &^ (width - 1)
	old.depth++
	other := &segment{depth: old.depth}
	for i := first + width/2; i < first+width; i++ {
		s.dir[i] = other
	}
	// Slots are taken out from behind a free one on, so that what is put back finds its place free or behind it.
	start := 0
	for old.low[start] != 0 {
		start++
	}
	old.n = 0
	for k := 1; k <= slots; k++ {
		i := (start + k) & (slots - 1)
		h := hash{old.low[i], old.high[i]}
		if h.low == 0 {
			continue
		}
		old.low[i] = 0
		to := s.dir[h.low>>(64-s.depth)]
		j, _ := to.find(h)
		to.low[j], to.high[j] = h.low, h.high
		to.n++
	}
}
