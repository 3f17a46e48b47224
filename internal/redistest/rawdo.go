package redistest

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"
)

// How long a raw command may take.
const rawTimeout = 30 * time.Second

// RawDo sends one command to the server at addr over a connection of its own, in RESP2, without rueidis, and returns the reply as text: an array as its elements joined by newlines,
// nil as "". An error, from the server too, ends the test.
func RawDo(tb testing.TB, addr string, args ...string) string {
	tb.Helper()
	return rawDo(tb, endpoint{addr: addr}, args...)
}

// Do is [RawDo] to this server, with TLS and as its administrator where it has one.
func (s *Server) Do(tb testing.TB, args ...string) string {
	tb.Helper()
	return rawDo(tb, s.at, args...)
}

func rawDo(tb testing.TB, at endpoint, args ...string) string {
	tb.Helper()
	reply, err := at.do(args...)
	if err != nil {
		tb.Fatalf("redistest: %.80s at %s: %v", strings.Join(args, " "), at.addr, err)
	}
	return text(reply)
}

// endpoint is where and as whom to send raw commands.
type endpoint struct {
	addr               string
	tls                *tls.Config
	username, password string
}

func (e endpoint) do(args ...string) (any, error) {
	replies, err := e.doAll(args)
	if err != nil {
		return nil, err
	}
	return replies[0], nil
}

// doAll sends the commands over one connection and returns their replies: string, int64, nil or []any. It stops at the first error.
func (e endpoint) doAll(cmds ...[]string) ([]any, error) {
	ctx, cancel := context.WithTimeout(context.Background(), rawTimeout)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", e.addr)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(rawTimeout))
	if e.tls != nil {
		conn = tls.Client(conn, e.tls)
	}
	r := bufio.NewReader(conn)
	if e.password != "" {
		if _, err := exchange(conn, r, []string{"AUTH", e.username, e.password}); err != nil {
			return nil, err
		}
	}
	replies := make([]any, 0, len(cmds))
	for _, cmd := range cmds {
		reply, err := exchange(conn, r, cmd)
		if err != nil {
			return nil, err
		}
		replies = append(replies, reply)
	}
	return replies, nil
}

// replyError is an error that a server answered.
type replyError string

func (e replyError) Error() string { return string(e) }

func exchange(w io.Writer, r *bufio.Reader, cmd []string) (any, error) {
	if _, err := io.WriteString(w, Array(Bulks(cmd...)...)); err != nil {
		return nil, err
	}
	reply, err := readReply(r)
	if err != nil {
		return nil, err
	}
	if e, ok := reply.(replyError); ok {
		return nil, e
	}
	return reply, nil
}

func readReply(r *bufio.Reader) (any, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	line = strings.TrimSuffix(line, "\r\n")
	if line == "" {
		return nil, errors.New("empty line")
	}
	body := line[1:]
	switch line[0] {
	case '+':
		return body, nil
	case '-':
		return replyError(body), nil
	case ':':
		return strconv.ParseInt(body, 10, 64)
	}
	n, err := strconv.Atoi(body)
	switch {
	case err != nil || line[0] != '$' && line[0] != '*':
		return nil, fmt.Errorf("unexpected reply %.40q", line)
	case n < 0:
		return nil, nil
	case line[0] == '$':
		buf := make([]byte, n+2)
		_, err := io.ReadFull(r, buf)
		return string(buf[:n]), err
	}
	elements := make([]any, n)
	for i := range elements {
		if elements[i], err = readReply(r); err != nil {
			return nil, err
		}
	}
	return elements, nil
}

func text(reply any) string {
	switch reply := reply.(type) {
	case nil:
		return ""
	case []any:
		lines := make([]string, len(reply))
		for i, element := range reply {
			lines[i] = text(element)
		}
		return strings.Join(lines, "\n")
	default:
		return fmt.Sprint(reply)
	}
}

// field returns the value of a "name:value" line, as INFO and CLUSTER INFO have them.
func field(info, name string) string {
	for line := range strings.Lines(info) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok && key == name {
			return value
		}
	}
	return ""
}
