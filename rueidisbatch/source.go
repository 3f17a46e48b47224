package rueidisbatch

import (
	"context"
	"fmt"

	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/rueidisstream"
)

// NOTE: How a chunk of keys is read. Everything else hands out chunks and takes values.
//
//	source.go     one chunk, and what to do about keys of another type
//	stream.go     by one MGET that is streamed, and what to do when its connection ends
//	cluster.go    by an MGET for each slot, in a pipeline to each node; routing
//	shared.go     over the connection that all callers share, whole in memory

// source reads chunks of keys for one call. It is for concurrent use.
type source struct {
	ctx     context.Context
	client  rueidis.Client
	cfg     config
	options []rueidisstream.Option
	halt    *halt
	cluster *cluster // nil if the client is of one primary
}

func newSource(ctx context.Context, client rueidis.Client, cfg config) *source {
	s := &source{ctx: ctx, client: client, cfg: cfg, options: cfg.streamOptions(), halt: newHalt()}
	if client.Mode() == rueidis.ClientModeCluster {
		s.cluster = newCluster(client)
	}
	return s
}

// request is a chunk of keys to be read.
type request struct {
	keys []string
	// put is called once for each key that could be read, with its place in keys. The value is borrowed until it returns, and nil
	// for a missing key. Its error ends the reading.
	put func(i int, val []byte, wrong bool) error
	// begun, if it is not nil, is called when the reply begins, before put. It tells whether it is wanted.
	begun func() bool
}

// read reads a chunk. Its error is of all keys unless it is a *keyError.
func (s *source) read(req *request) error {
	if s.cfg.wrong == WrongTypeMissing {
		return s.fetch(req)
	}
	var missing []int
	with := *req
	with.put = func(i int, val []byte, wrong bool) error {
		if val == nil {
			missing = append(missing, i)
			return nil
		}
		return req.put(i, val, wrong)
	}
	var failed *keyError
	if err := s.fails(&failed, s.fetch(&with)); err != nil {
		return err
	}
	if err := s.fails(&failed, s.tell(req, missing)); err != nil {
		return err
	}
	return failed.orNil()
}

func (s *source) fetch(req *request) error {
	switch {
	case s.cluster == nil:
		return s.stream(req)
	case s.cfg.replica:
		return s.shared(req)
	default:
		return s.nodes(req)
	}
}

// readShared is read over the shared connection.
func (s *source) readShared(req *request) error {
	direct := *s
	direct.cluster, direct.cfg.replica = new(cluster), true
	if s.cluster != nil {
		direct.cluster = s.cluster
	}
	return direct.read(req)
}

// fails notes err, if the reading goes on after errors of some keys, and else returns it.
func (s *source) fails(failed **keyError, err error) error {
	some, ok := err.(*keyError)
	if !ok || !s.cfg.partial {
		return err
	}
	if *failed == nil {
		*failed = &keyError{err: some.err}
	}
	(*failed).at = append((*failed).at, some.at...)
	return nil
}

// typesAtOnce is how many TYPEs go out together, over the shared connection. Their replies are a few bytes each.
const typesAtOnce = 512

// tell finds out which of the keys at the places have another type, and puts all of them.
func (s *source) tell(req *request, places []int) error {
	var failed *keyError
	for len(places) > 0 {
		some := places[:min(len(places), typesAtOnce)]
		places = places[len(some):]
		cmds := make([]rueidis.Completed, len(some))
		for k, i := range some {
			cmds[k] = s.client.B().Type().Key(req.keys[i]).Build()
		}
		for k, res := range s.client.DoMulti(s.ctx, cmds...) {
			i := some[k]
			name, err := res.ToString()
			if err != nil {
				if err := s.fails(&failed, &keyError{[]int{i}, sendError(s.ctx, err)}); err != nil {
					return err
				}
				continue
			}
			wrong := name != "none" && name != "string" // it may have come in between
			if wrong && s.cfg.wrong == WrongTypeError {
				if err := s.fails(&failed, &keyError{[]int{i}, ErrWrongType}); err != nil {
					return err
				}
				continue
			}
			if err := req.put(i, nil, wrong); err != nil {
				return err
			}
		}
	}
	return failed.orNil()
}

// shortReply is the error of a reply with another number of values than keys.
func shortReply(got int64, want int) error {
	return fmt.Errorf("%w: %d values for %d keys", ErrReply, got, want)
}
