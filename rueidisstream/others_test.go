package rueidisstream_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// A context whose end its own timer has not seen yet.
type lateContext struct{ context.Context }

func (lateContext) Deadline() (time.Time, bool) { return time.Now().Add(-time.Millisecond), true }

// Of the calls that dial at the same time and fail, rueidis gives to each the error that came last. So one that nobody has
// cancelled may be told that it was: it is sent again if it only reads, and else says what it is.
func TestOthersCancelled(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.Shared(t)
	var fail atomic.Int64
	c := caseDial(t, srv.Addr, casePool(1), func(o *rueidis.ClientOption) {
		o.DialCtxFn = func(ctx context.Context, addr string, d *net.Dialer, _ *tls.Config) (net.Conn, error) {
			if fail.Add(-1) >= 0 { // as a dialler of a context that was cancelled
				gone, cancel := context.WithCancel(context.Background())
				cancel()
				return d.DialContext(gone, "tcp", addr)
			}
			return d.DialContext(ctx, "tcp", addr)
		}
	})
	ctx := caseContext(t)
	key := t.Name()
	require.NoError(t, c.Do(ctx, c.B().Set().Key(key).Value("v").Build()).Error())

	write := func(ctx context.Context) error {
		_, err := rueidisstream.Do(ctx, c, c.B().Append().Key(key).Value("x").Build())
		return err
	}
	fail.Store(1)
	err := write(ctx)
	require.ErrorContains(t, err, "another call was cancelled")
	require.NotErrorIs(t, err, context.Canceled)

	fail.Store(1)
	err = write(lateContext{ctx})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NotErrorIs(t, err, context.Canceled)

	fail.Store(2)
	r, err := rueidisstream.Do(ctx, c, c.B().Get().Key(key).Build())
	require.NoError(t, err)
	v, err := r.Value()
	require.NoError(t, err)
	require.Equal(t, "v", v.String(), "nothing was appended")
	require.NoError(t, r.Close())
	require.Negative(t, fail.Load())
	caseEchoes(t, c, 100)

	one := caseDial(t, srv.Addr, casePool(1), func(o *rueidis.ClientOption) {
		o.DialCtxFn = func(ctx context.Context, addr string, d *net.Dialer, _ *tls.Config) (net.Conn, error) {
			if fail.Add(-1) >= 0 {
				return nil, context.Canceled
			}
			return d.DialContext(ctx, "tcp", addr)
		}
	})
	fail.Store(2)
	var b bytes.Buffer
	n, err := rueidisstream.Copy(ctx, one, one.B().Get().Key(key).Build(), &b)
	require.NoError(t, err)
	require.EqualValues(t, 1, n)
	require.Negative(t, fail.Load())
	caseEchoes(t, one, 100)
}
