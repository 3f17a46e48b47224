package rueidisbatch

import (
	"fmt"

	"github.com/redis/rueidis"
)

// shared reads a chunk over the connection that all callers share. The values that it puts are of memory that rueidis has made
// for this reply alone: they may be kept.
func (s *source) shared(req *request) error {
	if s.cluster.none() {
		msgs, err := s.client.Do(s.ctx, s.client.B().Mget().Key(req.keys...).Build()).ToArray()
		if err != nil {
			return sendError(s.ctx, err)
		}
		return putAll(req, msgs, nil)
	}
	return s.sharedSlots(req)
}

// sharedSlots sends an MGET for each slot, all at once. rueidis follows what the nodes answer, except that it would wait for ever
// for an MGET of which some keys have moved already: so several keys go out as a command of which rueidis does not know
// that it only reads, and if that fails, one by one.
func (s *source) sharedSlots(req *request) error {
	var cmds []rueidis.Completed
	order := s.cluster.order(req.keys, nil)
	groups := s.cluster.groups(order, nil)
	for _, g := range groups {
		if keys := g.keys(req.keys, order, nil); len(keys) > 1 {
			cmds = append(cmds, s.client.B().Arbitrary("MGET").Keys(keys...).Build())
		} else {
			cmds = append(cmds, s.client.B().Mget().Key(keys...).Build())
		}
	}
	var alone []int
	var failed *keyError
	for k, res := range s.client.DoMulti(s.ctx, cmds...) {
		places := groups[k].places(order)
		msgs, err := res.ToArray()
		switch {
		case err == nil:
			err = putAll(req, msgs, places)
		case len(places) > 1 && s.ctx.Err() == nil:
			alone, err = append(alone, places...), nil
		default:
			err = &keyError{places, sendError(s.ctx, err)}
		}
		if err := s.fails(&failed, err); err != nil {
			return err
		}
	}
	if err := s.fails(&failed, s.sharedAlone(req, alone)); err != nil {
		return err
	}
	return failed.orNil()
}

// sharedAlone reads keys one by one.
func (s *source) sharedAlone(req *request, places []int) error {
	if len(places) == 0 {
		return nil
	}
	cmds := make([]rueidis.Completed, len(places))
	for k, i := range places {
		cmds[k] = s.client.B().Mget().Key(req.keys[i]).Build()
	}
	var failed *keyError
	for k, res := range s.client.DoMulti(s.ctx, cmds...) {
		msgs, err := res.ToArray()
		if err == nil {
			err = putAll(req, msgs, places[k:k+1])
		} else {
			err = &keyError{places[k : k+1], sendError(s.ctx, err)}
		}
		if err := s.fails(&failed, err); err != nil {
			return err
		}
	}
	return failed.orNil()
}

// putAll puts the values of a reply: those of the keys at the places or, if these are nil, of all keys.
func putAll(req *request, msgs []rueidis.RedisMessage, places []int) error {
	want := len(req.keys)
	if places != nil {
		want = len(places)
	}
	if len(msgs) != want {
		return keysOf(places, shortReply(int64(len(msgs)), want))
	}
	if req.begun != nil && !req.begun() {
		return errHalted
	}
	for k := range msgs { // an error is of all that follow
		i := k
		if places != nil {
			i = places[k]
		}
		m := &msgs[k]
		var val []byte
		if !m.IsNil() {
			var err error
			if val, err = m.AsBytes(); err != nil {
				if !fromServer(err) {
					err = fmt.Errorf("%w: %w", ErrReply, err)
				}
				return restOf(places, k, want, err)
			}
			if val == nil {
				val = []byte{}
			}
			val = val[:len(val):len(val)]
		}
		if err := req.put(i, val, false); err != nil {
			return err
		}
	}
	return nil
}

func restOf(places []int, k, want int, err error) error {
	if places == nil {
		return partOf(err, k, want)
	}
	return &keyError{places[k:], err}
}

func keysOf(places []int, err error) error {
	if places == nil {
		return err
	}
	return &keyError{places, err}
}
