package rueidisstream_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// Beside L3: a context that is cancelled while a part of the closing reply is missing ends the wait for it.
func TestCase_L3_CancelWhileTheClosingReplyIsDue(t *testing.T) {
	redistest.NoLeak(t)
	stall := make(chan struct{})
	defer close(stall)
	f := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
		switch {
		case cmd[0] == "ECHO":
			c.Write(redistest.Bulk(cmd[1]))
		case cmd[0] == "PING" && len(cmd) > 1 && cmd[1] == "x":
			// All in one packet: the opening, the value, and a part of the closing.
			c.Write("$1\r\nx\r\n$5\r\nvalue\r\n$4\r\n_")
			c.Block(stall)
		case cmd[0] == "GET":
		default:
			c.BuiltIn(cmd)
		}
	}, redistest.Intercept("PING"))
	caseProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
		c := caseDial(t, f.Addr(), speak)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		done := make(chan error, 1)
		go func() {
			r, err := rueidisstream.Do(ctx, c, c.B().Get().Key("k").Build())
			if err == nil {
				var b bytes.Buffer
				_, err = io.Copy(&b, r)
				time.AfterFunc(100*time.Millisecond, cancel)
				r.Close()
			}
			done <- err
		}()
		select {
		case err := <-done:
			require.NoError(t, err)
		case <-time.After(5 * time.Second):
			f.CutAll()
			<-done
			t.Fatal("Close hangs although the context was cancelled")
		}
	})
}

// Beside L1: the sink's own error comes back as what it is, also if it looks like one of a connection.
func TestCase_L1_SinkErrorsThatLookLikeAConnections(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.Shared(t)
	srv.Do(t, "SET", "k", "value")
	caseProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
		c := redistest.NewClient(t, srv, speak)
		ctx := caseContext(t) // has a deadline, which is far
		for name, way := range caseCopies(ctx, c) {
			if name == "Read" {
				continue // io.Copy returns it
			}
			for _, own := range []error{io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, os.ErrDeadlineExceeded, context.Canceled, rueidis.Nil} {
				_, err := way(c.B().Get().Key("k").Build(), caseWriter(func([]byte) (int, error) { return 0, own }))
				if !errors.Is(err, own) {
					t.Errorf("%s: the sink's %q came back as %q", name, own, err)
				}
				if own != context.DeadlineExceeded && errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s: the sink's %q came back as the context's: %q", name, own, err)
				}
			}
		}
		caseEchoes(t, c, 100)
	})
}
