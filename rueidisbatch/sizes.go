package rueidisbatch

import "sync"

// sizes decides how many keys a chunk has.
type sizes struct {
	most  int // keys
	bytes int64

	mu         sync.Mutex
	keys, read int64 // what has been read
}

// begin prepares for n keys, or for an unknown number if n is 0. Chunks are about equal, and as few as can be.
func (s *sizes) begin(cfg *config, n int) {
	s.most, s.bytes = cfg.chunk, cfg.chunkBytes
	if n > 0 {
		chunks := (n + s.most - 1) / s.most
		s.most = (n + chunks - 1) / chunks
	}
}

// chunks returns how many chunks n keys are at least.
func (s *sizes) chunks(n int) int {
	most := s.next()
	return (n + most - 1) / most
}

// next returns how many keys the next chunk has.
func (s *sizes) next() int {
	if s.bytes == 0 {
		return s.most
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.read == 0 { // twice as many each time that there were none
		return int(max(min(int64(s.most), max(s.keys, firstOfBytes), s.bytes), 1))
	}
	// The quotient may be more than any integer is.
	return max(int(min(float64(s.most), float64(s.bytes)/float64(s.read)*float64(s.keys))), 1)
}

// add notes how many bytes so many keys had.
func (s *sizes) add(keys int, bytes int64) {
	if s.bytes == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys += int64(keys)
	s.read += bytes
}
