package rueidisstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/redis/rueidis"
)

// NOTE: how SetFrom keeps its promises.
//
// Every write to the temporary key is MULTI, some APPENDs, PEXPIRE, EXEC. A connection that is cut may leave bytes behind which
// the server executes after the temporary key was deleted, and an APPEND alone would then make it anew, for good. In a
// transaction, whatever arrives late either has its PEXPIRE with it or is not executed. For the same reason the expiry of the
// temporary key is changed for the last time in one transaction with RENAME: no state in between can outlive us.
//
// APPEND replies with the length. That is how an APPEND executed twice, or into a key that had vanished, is noticed.

const (
	appendBytes  = 64 << 10        // in one APPEND
	appendsAhead = 8               // APPENDs in one transaction, one round trip
	tempTTL      = 5 * time.Minute // the temporary key's, from its last transaction on
	renewAfter   = tempTTL / 5     // a transaction is sent after this time though it is not full
	cleanUpTime  = 500 * time.Millisecond
	maxWatches   = 100
)

var errInvalidRead = errors.New("the reader returned an impossible count")

// SetFrom sets key to what r has until io.EOF, in constant memory: it is SET for a value that need not fit into memory, and whose
// length need not be known. It returns the length of the value, 0 with every error. Other clients see the old value or the new one,
// whole: the value is written to a temporary key, 64 KiB by 64 KiB, and moved onto key by RENAME. As with SET, key may have been
// of any type, and loses its time to live unless WithExpire, WithExpireAt or WithKeepTTL says otherwise. An r without a byte
// sets the empty string.
//
//	n, err := rueidisstream.SetFrom(ctx, client, "video", request.Body, rueidisstream.WithExpire(time.Hour))
//
// With every error key has kept its old value and its time to live, but for one case, which the error's text names: the connection
// was lost, or the context done, when the last step had been sent. Then key has the old value or the new one, whole.
// An error of r comes back wrapped with the position, as does one of the connection; one of the server as it is, unwrapped. When
// the context is done, errors.Is(err, ctx.Err()) holds; a Read of r that waits is not interrupted. Nothing is sent twice. The length is
// compared after each step, and if it is not what it must be, that is ErrChanged.
//
// The temporary key is in the cluster slot of key, its name begins with key or with key in braces and cannot be guessed, and
// it is deleted when SetFrom fails, also if r panics or ends the goroutine. Should that fail as well, or the process die, it
// expires: it has a time to live of five minutes at any moment, which starts anew with every step. So an r that has nothing
// for five minutes is ErrChanged.
//
// The server holds the old value and the new one for a while, and moves the new one in its memory some times while it grows. It sends the keyspace events of APPEND and RENAME, not that of SET.
// The commands, which an access list has to allow on both keys, are MULTI, EXEC, APPEND, PEXPIRE, PERSIST, RENAME and UNLINK;
// PEXPIREAT with WithExpireAt; WATCH, TIME, PTTL and PEXPIREAT with WithKeepTTL. They use the client's shared connections, half a
// megabyte at a time. For a value that is in memory anyway, SET is faster.
func SetFrom(ctx context.Context, client rueidis.Client, key string, r io.Reader, opts ...Option) (int64, error) {
	s := setter{ctx: ctx, client: client, key: key, ttl: newConfig(opts).ttl, renew: renewAfter}
	switch {
	case s.ttl.key == expireOption && s.ttl.n <= 0:
		return 0, errors.New("rueidisstream: WithExpire needs a millisecond at least")
	case s.ttl.key == expireAtOption && s.ttl.n <= time.Now().UnixMilli():
		return 0, errors.New("rueidisstream: WithExpireAt has passed")
	}
	s.temp = tempKey(client, key)
	err := s.run(r)
	switch {
	case err == nil:
		return s.n, nil
	case s.source && ctx.Err() == nil:
		return 0, fmt.Errorf("rueidisstream: after %d bytes: %w", s.n, err)
	case !s.source && fromServer(err):
		return 0, err
	case s.unsure:
		return 0, fmt.Errorf("rueidisstream: after %d bytes: the last step was sent, its reply is lost, "+
			"and the key has the old value or the new one: %w", s.n, cause(ctx, err))
	}
	return 0, fmt.Errorf("rueidisstream: after %d bytes: %w", s.n, cause(ctx, err))
}

// setter is one SetFrom.
type setter struct {
	ctx       context.Context
	client    rueidis.Client
	key, temp string
	ttl       Option
	renew     time.Duration // send after this time though it is not full; renewAfter
	n         int64         // bytes that the temporary key has, confirmed by the server
	chunks    []string      // read and not sent yet
	source    bool          // the error is r's
	sent      bool          // the temporary key may exist
	unsure    bool          // RENAME may have been executed
}

func (s *setter) run(r io.Reader) (err error) {
	stored := false
	defer func() { // also when r panics, or ends the goroutine
		if s.sent && !stored && s.remove() {
			s.unsure = false // it was still there, so it was not renamed, and cannot be any more
		}
	}()
	if err := s.fill(r); err != nil {
		return err
	}
	if err := s.commit(); err != nil {
		return err
	}
	stored = true
	return nil
}

// fill writes r to the temporary key.
func (s *setter) fill(r io.Reader) error {
	buf, have, last := make([]byte, appendBytes), 0, time.Now()
	for {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		n, err := r.Read(buf[have:])
		if n < 0 || n > len(buf)-have {
			n, err = 0, errInvalidRead
		}
		have += n
		if err != nil && err != io.EOF {
			s.source = true
			return err
		}
		end, due := err == io.EOF, time.Since(last) > s.renew
		if have == len(buf) || have > 0 && (end || due) {
			s.chunks = append(s.chunks, string(buf[:have]))
			have = 0
		}
		if len(s.chunks) == appendsAhead || due || end && (len(s.chunks) > 0 || !s.sent) {
			if err := s.flush(); err != nil {
				return err
			}
			last = time.Now()
		}
		if end {
			return nil
		}
	}
}

// flush appends the chunks, or the empty string, to the temporary key and renews its expiry.
func (s *setter) flush() error {
	if len(s.chunks) == 0 {
		s.chunks = append(s.chunks, "")
	}
	cmds := make([]rueidis.Completed, 0, appendsAhead+1)
	for _, c := range s.chunks {
		cmds = append(cmds, s.client.B().Append().Key(s.temp).Value(c).Build())
	}
	cmds = append(cmds, s.client.B().Pexpire().Key(s.temp).Milliseconds(tempTTL.Milliseconds()).Build())
	s.sent = true
	replies, err := transact(s.ctx, s.client, cmds...)
	if err != nil {
		return err
	}
	for i, c := range s.chunks {
		length, err := replies[i].ToInt64()
		if err != nil {
			return err
		}
		if want := s.n + int64(len(c)); length != want {
			return fmt.Errorf("the temporary key has %d bytes and should have %d: %w", length, want, ErrChanged)
		}
		s.n += int64(len(c))
	}
	if err := isOne(&replies[len(s.chunks)]); err != nil {
		return err
	}
	clear(s.chunks)
	s.chunks = s.chunks[:0]
	return nil
}

// commit moves the temporary key onto the key.
func (s *setter) commit() error {
	b := s.client.B()
	switch s.ttl.key {
	case expireOption:
		return s.rename(s.client, b.Pexpire().Key(s.temp).Milliseconds(s.ttl.n).Build())
	case expireAtOption:
		return s.rename(s.client, b.Pexpireat().Key(s.temp).MillisecondsTimestamp(s.ttl.n).Build())
	case keepTTLOption:
		return s.commitKeeping()
	}
	return s.rename(s.client, b.Persist().Key(s.temp).Build())
}

// commitKeeping is commit with the expiry that the key has, which must not change between its being read and its being set.
func (s *setter) commitKeeping() error {
	c, release := s.client.Dedicate()
	clean := false
	defer func() {
		if !clean {
			c.Close() // it may be watching
		}
		release()
	}()
	for range maxWatches {
		at, err := s.watch(c)
		if err != nil {
			return err
		}
		ttl := s.client.B().Persist().Key(s.temp).Build()
		if at > 0 {
			ttl = s.client.B().Pexpireat().Key(s.temp).MillisecondsTimestamp(at).Build()
		}
		err = s.rename(c, ttl)
		if err != errAborted {
			clean = err == nil
			return err
		}
	}
	return fmt.Errorf("WithKeepTTL: the key is touched all the time: %w", errAborted)
}

// watch lets c watch the key and returns when it expires, in Unix milliseconds; 0 is never. (PEXPIRETIME would need Redis 7.)
func (s *setter) watch(c rueidis.DedicatedClient) (int64, error) {
	results := c.DoMulti(s.ctx, c.B().Watch().Key(s.key).Build(), c.B().Time().Build(), c.B().Pttl().Key(s.key).Build())
	for i := range results {
		if err := results[i].Error(); err != nil {
			return 0, err
		}
	}
	now, err := results[1].AsStrSlice()
	if err != nil || len(now) != 2 {
		return 0, fmt.Errorf("%w: the reply to TIME is %.40q", ErrProtocol, now)
	}
	sec, err1 := strconv.ParseInt(now[0], 10, 64)
	micro, err2 := strconv.ParseInt(now[1], 10, 64)
	left, err3 := results[2].ToInt64()
	if err := errors.Join(err1, err2, err3); err != nil {
		return 0, fmt.Errorf("%w: the reply to TIME or PTTL: %w", ErrProtocol, err)
	}
	if left < 0 {
		return 0, nil
	}
	return sec*1000 + micro/1000 + left, nil
}

// rename moves the temporary key onto the key after the command that sets its expiry. Should that one fail, RENAME would be
// executed all the same; but it cannot: its argument was checked, and a command that is not allowed stops the transaction.
func (s *setter) rename(c doer, ttl rueidis.Completed) error {
	replies, err := transact(s.ctx, c, ttl, s.client.B().Rename().Key(s.temp).Newkey(s.key).Build())
	if err != nil {
		s.unsure = !fromServer(err) && err != errAborted
		return err
	}
	if err := replies[1].Error(); err != nil {
		if isRedisErr(err, "no such key") {
			return fmt.Errorf("the temporary key is gone: %w", ErrChanged)
		}
		return err
	}
	return isOne(&replies[0])
}

// isOne checks the reply of a command that sets or removes the temporary key's expiry.
func isOne(m *rueidis.RedisMessage) error {
	n, err := m.ToInt64()
	if err == nil && n != 1 {
		err = fmt.Errorf("the temporary key had no expiry: %w", ErrChanged)
	}
	return err
}

// remove deletes the temporary key and tells whether it was there. It goes on when the context is done, for a short time.
func (s *setter) remove() bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), cleanUpTime)
	defer cancel()
	for {
		replies, err := transact(ctx, s.client, s.client.B().Unlink().Key(s.temp).Build())
		if err == nil {
			n, err := replies[0].ToInt64()
			return err == nil && n == 1
		}
		if fromServer(err) || errors.Is(err, rueidis.ErrClosing) || errors.Is(err, ErrProtocol) || errors.Is(err, ErrUnsupported) {
			return false
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(10 * time.Millisecond):
		}
	}
}
