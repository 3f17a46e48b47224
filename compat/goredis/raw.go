package goredis

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/internal/wire"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// RawCmd is the result of DoRaw.
type RawCmd struct {
	val []byte
	err error
}

// SetVal sets the value.
func (c *RawCmd) SetVal(val []byte) { c.val = val }

// SetErr sets the error.
func (c *RawCmd) SetErr(err error) { c.err = err }

// Val returns the reply as it came.
func (c *RawCmd) Val() []byte { return c.val }

// Err returns the error, nil if the reply came.
func (c *RawCmd) Err() error { return c.err }

// Result returns the reply and the error.
func (c *RawCmd) Result() ([]byte, error) { return c.val, c.err }

// Bytes is Result.
func (c *RawCmd) Bytes() ([]byte, error) { return c.val, c.err }

// RawWriteToCmd is the result of DoRawWriteTo.
type RawWriteToCmd struct {
	written int64
	err     error
}

// SetVal sets the number of bytes.
func (c *RawWriteToCmd) SetVal(written int64) { c.written = written }

// SetErr sets the error.
func (c *RawWriteToCmd) SetErr(err error) { c.err = err }

// Val returns how many bytes the writer took.
func (c *RawWriteToCmd) Val() int64 { return c.written }

// Err returns the error, nil if the whole reply was written.
func (c *RawWriteToCmd) Err() error { return c.err }

// Result returns how many bytes the writer took, and the error.
func (c *RawWriteToCmd) Result() (int64, error) { return c.written, c.err }

// DoRaw sends a command and returns the bytes of the reply as the server sends them, in the protocol that the client speaks: an
// error of the server and a null are replies like others, and no error of the result. Arguments are written as go-redis writes
// them: strings, bytes, numbers, bool as 1 and 0, nil as the empty string, time.Time, time.Duration in nanoseconds,
// encoding.BinaryMarshaler, net.IP, and pointers to these.
//
// On a cluster the command goes where its first key is, and follows MOVED and ASK. It is not sent again when a connection is
// lost, since it may have been executed. Commands after which the connection would speak otherwise are refused, with
// rueidisstream.ErrUnsupported: those that subscribe, MONITOR, HELLO, RESET, QUIT, SYNC, PSYNC and CLIENT REPLY.
func (a *Adapter) DoRaw(ctx context.Context, args ...any) *RawCmd {
	var buf bytes.Buffer
	_, err := a.raw(ctx, &buf, args)
	return &RawCmd{val: buf.Bytes(), err: err}
}

// DoRawWriteTo is DoRaw that writes the reply to w while it arrives, in constant memory. The result's value is how many bytes w
// took. An error of w is the result's, as it is; the connection is then closed.
func (a *Adapter) DoRawWriteTo(ctx context.Context, w io.Writer, args ...any) *RawWriteToCmd {
	n, err := a.raw(ctx, w, args)
	return &RawWriteToCmd{written: n, err: err}
}

// maxRedirects is how often a raw command is sent to another node.
const maxRedirects = 16

func (a *Adapter) raw(ctx context.Context, w io.Writer, args []any) (int64, error) {
	words, err := wordsOf(args)
	if err == nil {
		err = refuse(words)
	}
	if err != nil {
		return 0, err
	}
	client, key, mode, asking := a.client, rawKey(words), wire.Primary, false
	for try := 0; ; try++ {
		c := rawCopy{w: w}
		cmds := []rueidis.Completed{rawCommand(client, words, key, a.cluster && mode == wire.Primary)}
		if asking {
			cmds = append([]rueidis.Completed{client.B().Arbitrary("ASKING").Build()}, cmds...)
		}
		err := c.run(ctx, client, cmds, mode, a.cluster && try < maxRedirects, keepsConn(words))
		if !errors.Is(err, errElsewhere) {
			return c.n, a.rawError(ctx, err)
		}
		client, mode, asking = a.elsewhere(ctx, c.line, key)
		if client == nil { // the node is not known yet
			client, mode = a.client, wire.Primary
			if !pause(ctx, time.Duration(min(try, 10))*5*time.Millisecond) {
				return 0, ctx.Err()
			}
		}
	}
}

func rawCommand(client rueidis.Client, words []string, key string, slot bool) rueidis.Completed {
	cmd := client.B().Arbitrary(words...).Build()
	if slot && key != "" {
		cmd = cmd.SetSlot(key)
	}
	return cmd
}

// elsewhere returns the node that the line names, which is one of MOVED or ASK, or nil, and lets the client look at the cluster
// anew, which it does on an answer to a command of its own.
func (a *Adapter) elsewhere(ctx context.Context, line []byte, key string) (rueidis.Client, wire.Mode, bool) {
	_ = a.client.Do(ctx, a.client.B().Exists().Key(key).Build()).Error()
	fields := strings.Fields(string(line))
	if len(fields) != 3 {
		return nil, wire.Primary, false
	}
	node, ok := a.client.Nodes()[fields[2]]
	if !ok {
		return nil, wire.Primary, false
	}
	return node, wire.OneNode, fields[0] == "-ASK"
}

// pause waits for d and tells whether ctx is not done.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// rawError is what becomes of an error of the connection.
func (a *Adapter) rawError(ctx context.Context, err error) error {
	var w *writerError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &w):
		return w.err
	case ctx.Err() != nil:
		return ctx.Err()
	case isServers(err):
		return err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		a.refresh(ctx)
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("compat/goredis: %w", err)
}

// refresh lets the pool get rid of connections that have been closed meanwhile, so that the next call finds a good one.
func (a *Adapter) refresh(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if r, err := rueidisstream.Do(ctx, a.client, a.client.B().Arbitrary("PING").Args("x").ReadOnly()); err == nil {
		_ = r.Close()
	}
}
