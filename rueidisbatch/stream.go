package rueidisbatch

import (
	"context"
	"errors"
	"fmt"

	"github.com/rueidisx/rueidisx/rueidisstream"
)

// maxBroken is how often what is left of a chunk is asked for again because the connection ended in the middle.
const maxBroken = 3

// stream reads a chunk by one MGET, and by another one for what is left if its connection ends in between.
func (s *source) stream(req *request) error {
	done := 0
	for try := 0; ; try++ {
		rest := *req
		if done > 0 {
			base := done
			rest.keys = req.keys[base:]
			rest.put = func(i int, val []byte, wrong bool) error { return req.put(base+i, val, wrong) }
		}
		n, begun, err := s.streamOnce(&rest)
		if done += n; err == nil {
			return nil
		}
		if !begun || !isBroken(err) || try == maxBroken || s.ctx.Err() != nil {
			return partOf(err, done, len(req.keys))
		}
	}
}

// partOf makes err that of the keys from done on.
func partOf(err error, done, n int) error {
	if done == 0 || done == n {
		return err
	}
	at := make([]int, 0, n-done)
	for i := done; i < n; i++ {
		at = append(at, i)
	}
	return &keyError{at, err}
}

// streamOnce reads values until there is an error. It returns how many, and whether the reply has begun.
func (s *source) streamOnce(req *request) (n int, begun bool, err error) {
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	if !s.halt.enter(&cancel) {
		return 0, false, errHalted
	}
	defer s.halt.leave(&cancel)
	r, err := rueidisstream.Do(ctx, s.client, s.client.B().Mget().Key(req.keys...).Build(), s.options...)
	if err != nil {
		return 0, false, s.halted(err)
	}
	defer r.Close() // also when put panics, or ends the goroutine
	if req.begun != nil && !req.begun() {
		return 0, true, errHalted
	}
	n, err = s.values(r, len(req.keys), req.put)
	if err == nil {
		err = r.Close()
	}
	return n, true, s.halted(err)
}

// halted is err, or what it comes from.
func (s *source) halted(err error) error {
	if err != nil && s.halt.halted.Load() && s.ctx.Err() == nil {
		var user *userError
		if !errors.As(err, &user) {
			return errHalted
		}
	}
	return err
}

// values reads the reply to an MGET of so many keys, and returns how many values it has put. An error is of all that follow.
func (s *source) values(r *rueidisstream.Reader, keys int, put func(i int, val []byte, wrong bool) error) (n int, err error) {
	if h := r.Header(); !h.Kind.IsAggregate() {
		return 0, fmt.Errorf("%w: %s in place of the values", ErrReply, h.Kind)
	} else if h.Len >= 0 && h.Len != int64(keys) {
		return 0, shortReply(h.Len, keys)
	}
	for v, err := range r.Values() {
		if err != nil {
			return n, err
		}
		if n == keys {
			return n, fmt.Errorf("%w: more values than the %d keys", ErrReply, keys)
		}
		if s.halt.halted.Load() {
			return n, errHalted
		}
		val := v.Bytes()
		switch kind := v.Kind(); {
		case kind == rueidisstream.KindString, kind == rueidisstream.KindNull:
		case kind == rueidisstream.KindError, kind == rueidisstream.KindBlobError:
			return n, v.Error()
		case kind.IsAggregate():
			return n, fmt.Errorf("%w: %s in place of a value", ErrReply, kind)
		}
		if err := put(n, val, false); err != nil {
			return n, err
		}
		n++
	}
	if n != keys {
		return n, shortReply(int64(n), keys)
	}
	return n, nil
}
