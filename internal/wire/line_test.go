package wire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A Line answers an opening, and nothing else that is written.
func TestLineAnswersOpenings(t *testing.T) {
	get := "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n"
	for name, row := range map[string]struct{ written, sent, answer string }{
		"an opening":                {openingCommand + get, openingCommand + get, openingReply},
		"an opening by itself":      {openingCommand, openingCommand, openingReply},
		"two that stay here":        {aloneCommands + get, get, aloneReply},
		"those by themselves":       {aloneCommands, "", aloneReply},
		"one that should be two":    {pingCommand(alone) + get, pingCommand(alone) + get, ""},
		"another PING":              {pingCommand("x") + get, pingCommand("x") + get, ""},
		"a PING of the same length": {pingCommand(strings.Repeat("A", len(opening)-1) + "a"), pingCommand(strings.Repeat("A", len(opening)-1) + "a"), ""},
		"half an opening":           {openingCommand[:20], openingCommand[:20], ""},
		"an opening behind others":  {get + openingCommand, get + openingCommand, ""},
		"nothing":                   {"", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			conn := &script{}
			l := NewLine(conn, 0)
			n, err := l.Write([]byte(row.written))
			require.NoError(t, err)
			require.Equal(t, len(row.written), n)
			require.Equal(t, row.sent, conn.sent.String())
			require.Equal(t, row.answer != "", l.answered)
			got := make([]byte, len(row.answer))
			for i := range got { // by single bytes
				_, err := l.Read(got[i : i+1])
				require.NoError(t, err)
			}
			require.Equal(t, row.answer, string(got))
			_, err = l.Read(make([]byte, 1))
			require.Equal(t, io.EOF, err, "what the connection has")
		})
	}
	t.Run("what was not sent is not counted", func(t *testing.T) {
		conn := &script{fail: io.ErrClosedPipe}
		n, err := NewLine(conn, 0).Write([]byte(aloneCommands + get))
		require.Equal(t, io.ErrClosedPipe, err)
		require.Equal(t, len(aloneCommands), n)
	})
}

// script is a connection that keeps what is written and the deadlines that it is given.
type script struct {
	net.Conn
	sent      bytes.Buffer
	fail      error
	deadlines []time.Time
	read      func() error
}

func (s *script) Write(p []byte) (int, error) {
	if s.fail != nil {
		return 0, s.fail
	}
	return s.sent.Write(p)
}

func (s *script) Read([]byte) (int, error) {
	if s.read != nil {
		return 0, s.read()
	}
	return 0, io.EOF
}

func (s *script) SetReadDeadline(t time.Time) error {
	s.deadlines = append(s.deadlines, t)
	return nil
}

// The deadline of a Line is the nearer one of the context's and the end of the silence. It is set only when it has to be.
func TestLineDeadlines(t *testing.T) {
	soon, cancelSoon := context.WithTimeout(context.Background(), time.Minute)
	defer cancelSoon()
	until, _ := soon.Deadline()
	for name, row := range map[string]struct {
		ctx     context.Context
		silence time.Duration
		patient bool
		want    time.Time // the zero time with a silence means about its end
	}{
		"neither":                          {context.Background(), 0, false, time.Time{}},
		"the context's":                    {soon, 0, false, until},
		"the context's is the nearer one":  {soon, time.Hour, false, until},
		"the silence's":                    {context.Background(), time.Hour, false, time.Time{}},
		"silence does not matter for now":  {context.Background(), time.Hour, true, time.Time{}},
		"but the context's does":           {soon, time.Second, true, until},
		"the silence's is the nearer one":  {soon, time.Second, false, time.Time{}},
		"a silence of less than 0 is none": {soon, -time.Second, false, until},
	} {
		t.Run(name, func(t *testing.T) {
			conn := &script{}
			l := NewLine(conn, row.silence)
			_, _ = l.Read(nil)
			require.Empty(t, conn.deadlines, "nobody's connection")
			l.begin(row.ctx, nil)
			l.patient = row.patient
			for range 3 {
				_, _ = l.Read(nil)
			}
			require.Len(t, conn.deadlines, 1)
			if row.want.IsZero() && row.silence > 0 && !row.patient {
				require.WithinDuration(t, time.Now().Add(row.silence+row.silence/8), conn.deadlines[0], row.silence/8)
				l.armed = time.Now() // so long later
				_, _ = l.Read(nil)
				require.Len(t, conn.deadlines, 2)
			} else {
				require.True(t, row.want.Equal(conn.deadlines[0]), "%v", conn.deadlines[0])
			}
			l.patient = !row.patient
			_, _ = l.Read(nil)
			l.patient = row.patient
			l.end()
			n := len(conn.deadlines)
			_, _ = l.Read(nil)
			require.Len(t, conn.deadlines, n, "nobody's again")
		})
	}
}

// The error of a read says whether the context or the silence ended it.
func TestLineErrors(t *testing.T) {
	over, cancel := context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
	defer cancel()
	broken := errors.New("broken")
	later, cancelLater := context.WithTimeout(context.Background(), time.Hour)
	defer cancelLater()
	for name, row := range map[string]struct {
		ctx        context.Context
		err, want  error
		isNotStall bool
	}{
		"silence":                           {context.Background(), os.ErrDeadlineExceeded, ErrStalled, false},
		"silence before a deadline":         {later, os.ErrDeadlineExceeded, ErrStalled, false},
		"the context is done":               {over, os.ErrDeadlineExceeded, context.DeadlineExceeded, true},
		"the connection is broken":          {context.Background(), broken, broken, true},
		"a deadline that the context minds": {lateContext{}, os.ErrDeadlineExceeded, os.ErrDeadlineExceeded, true},
	} {
		t.Run(name, func(t *testing.T) {
			l := NewLine(&script{read: func() error { return row.err }}, time.Second)
			l.begin(row.ctx, nil)
			_, err := l.Read(nil)
			require.ErrorIs(t, err, row.want)
			require.Equal(t, !row.isNotStall, errors.Is(err, ErrStalled))
		})
	}
	t.Run("reads that were interrupted stay so", func(t *testing.T) {
		conn := &script{}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		w := &watch{conn: conn}
		w.interrupt()
		require.Len(t, conn.deadlines, 1)
		require.Equal(t, context.Canceled, w.arm(ctx, time.Time{}))
		require.Len(t, conn.deadlines, 1)
	})
}

// lateContext is a context that has not seen yet that its deadline has passed.
type lateContext struct{ context.Context }

func (lateContext) Deadline() (time.Time, bool) { return time.Now().Add(-time.Second), true }
func (lateContext) Err() error                  { return nil }
func (lateContext) Done() <-chan struct{}       { return nil }
