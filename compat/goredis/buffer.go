package goredis

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/redis/rueidis/rueidiscompat"

	"github.com/rueidisx/rueidisx/rueidisstream"
)

// BufferTooSmallError is the error of GetToBuffer for a value that is longer than the buffer. errors.Is(err, io.ErrShortBuffer)
// holds, which is rueidiscompat's error; its text is go-redis'.
type BufferTooSmallError struct {
	Need, Have int // bytes
}

// Error returns the text that go-redis has.
func (e *BufferTooSmallError) Error() string {
	return fmt.Sprintf("redis: buffer too small: need %d bytes, have %d", e.Need, e.Have)
}

// Unwrap returns io.ErrShortBuffer.
func (e *BufferTooSmallError) Unwrap() error { return io.ErrShortBuffer }

// GetToBuffer reads the value of key into buf. The result's Val is its length and Bytes the part of buf that has it. If buf is too
// small its error is a *BufferTooSmallError, buf is as it was, and Val is 0; a missing key is rueidiscompat.Nil. Nothing is asked for twice once
// something of the value has arrived, and with an error buf may hold the beginning of the value.
func (a *Adapter) GetToBuffer(ctx context.Context, key string, buf []byte) *rueidiscompat.ZeroCopyStringCmd {
	c, cmd := catch(a, func(c rueidiscompat.Cmdable) *rueidiscompat.ZeroCopyStringCmd { return c.GetToBuffer(ctx, key, buf) })
	n, err := 0, error(nil)
	r, err := rueidisstream.Do(ctx, a.client, cmd, rueidisstream.AllowReplica())
	if err == nil {
		n, err = readInto(r, buf)
	}
	if err != nil {
		n, err = 0, plain(ctx, err)
	}
	c.SetVal(n)
	c.SetErr(err)
	return c
}

// readInto reads the string of r into buf and closes r.
func readInto(r *rueidisstream.Reader, buf []byte) (int, error) {
	defer r.Close()
	h := r.Header()
	if h.Kind.IsAggregate() {
		return 0, fmt.Errorf("compat/goredis: GET: %w: %s", rueidisstream.ErrShape, h.Kind)
	}
	if h.Len > int64(len(buf)) {
		return 0, &BufferTooSmallError{Need: int(h.Len), Have: len(buf)}
	}
	if h.Len < 0 {
		return 0, fmt.Errorf("compat/goredis: GET: %w: a string of unknown length", rueidisstream.ErrShape)
	}
	n := int(h.Len)
	if _, err := io.ReadFull(r, buf[:n]); err != nil {
		return 0, err
	}
	return n, r.Close()
}

// plain returns the context's own error where that is the reason of err, as rueidis does.
func plain(ctx context.Context, err error) error {
	if isServers(err) {
		return err
	}
	if done := contextError(ctx, err); done != nil {
		return done
	}
	return err
}

// contextError returns the context's error if it is done, or if err says that its deadline has passed, which a connection may see a
// moment before the context does.
func contextError(ctx context.Context, err error) error {
	if done := ctx.Err(); done != nil {
		return done
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return context.DeadlineExceeded
	}
	if at, ok := ctx.Deadline(); ok && errors.Is(err, os.ErrDeadlineExceeded) && !time.Now().Before(at) {
		return context.DeadlineExceeded
	}
	return nil
}

// SetFromBuffer sets key to the bytes of buf, without an expiry. buf may be changed as soon as it returns, which is not so in
// rueidiscompat when the context ends.
func (a *Adapter) SetFromBuffer(ctx context.Context, key string, buf []byte) *rueidiscompat.StatusCmd {
	return a.Cmdable.Set(ctx, key, string(buf), 0)
}

// GetReader returns a reader of the value of key and the value's length. Close it, also after the last byte; until then it has a
// connection to itself. io.EOF comes at the true end of the value only: a connection that ends early is io.ErrUnexpectedEOF.
// A missing key is rueidiscompat.Nil.
func (a *Adapter) GetReader(ctx context.Context, key string) (io.ReadCloser, int64, error) {
	r, err := rueidisstream.Do(ctx, a.client, a.client.B().Get().Key(key).Build(), rueidisstream.AllowReplica())
	if err != nil {
		return nil, 0, plain(ctx, err)
	}
	h := r.Header()
	if h.Kind.IsAggregate() {
		_ = r.Close()
		return nil, 0, fmt.Errorf("compat/goredis: GET: %w: %s", rueidisstream.ErrShape, h.Kind)
	}
	return r, h.Len, nil
}

// SetFromReader sets key to what r has until io.EOF, in constant memory, all or nothing, by rueidisstream.SetFrom, which says how.
// The expiration is as in Set: more than 0 is a time to live, in milliseconds; rueidiscompat.KeepTTL keeps the one that key has;
// else there is none. The result's value is "OK".
func (a *Adapter) SetFromReader(ctx context.Context, key string, r io.Reader, expiration time.Duration) *rueidiscompat.StatusCmd {
	var opts []rueidisstream.Option
	switch {
	case expiration > 0:
		opts = append(opts, rueidisstream.WithExpire(max(expiration, time.Millisecond)))
	case expiration == rueidiscompat.KeepTTL:
		opts = append(opts, rueidisstream.WithKeepTTL())
	}
	c := new(rueidiscompat.StatusCmd)
	if _, err := rueidisstream.SetFrom(ctx, a.client, key, r, opts...); err != nil {
		c.SetErr(err)
		return c
	}
	c.SetVal("OK")
	return c
}
