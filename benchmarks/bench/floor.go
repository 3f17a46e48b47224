package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/rueidisx/rueidisx/rueidisstream"
)

// floor is what no client can be faster than: the reply's bytes, whose number is known, out of a socket into one buffer, without
// a look at them.
func (e *env) floor(want want, words ...string) (impl, error) {
	x, err := e.exchange(words...)
	if err != nil {
		return impl{}, err
	}
	return impl{name: "floor", op: func(s *sink) error {
		if err := x.do(e.bare); err != nil {
			return err
		}
		if !s.check {
			s.elements, s.bytes = want.elements, want.bytes
			return nil
		}
		return x.each(func(b []byte) error {
			s.see(b)
			return nil
		})
	}}, nil
}

// floorLister is the same for a small directory: HGETALL and one MGET, whose keys are known.
func (e *env) floorLister(dir string, want want) (func(s *sink, first func()) error, error) {
	names, err := e.exchange("HGETALL", dir)
	if err != nil {
		return nil, err
	}
	words, i := []string{"MGET"}, 0
	if err := names.do(e.bare); err != nil {
		return nil, err
	}
	if err := names.each(func(b []byte) error {
		if i++; i%2 == 0 {
			_, number := parseDirValue(b)
			words = append(words, string(attrKey(nil, number)))
		}
		return nil
	}); err != nil {
		return nil, err
	}
	attrs, err := e.exchange(words...)
	return func(s *sink, first func()) error {
		if err := errors.Join(names.do(e.bare), attrs.do(e.bare)); err != nil {
			return err
		}
		first()
		if !s.check {
			s.elements, s.bytes = want.elements, want.bytes
			return nil
		}
		var entries []entry
		_ = names.each(func(b []byte) error {
			if n := len(entries); n > 0 && entries[n-1].kind == 0 {
				entries[n-1].kind, entries[n-1].inode = parseDirValue(b)
			} else {
				entries = append(entries, entry{name: string(b)})
			}
			return nil
		})
		i := 0
		return attrs.each(func(b []byte) error {
			if i == len(entries) || !entries[i].attr.parse(b) {
				return fmt.Errorf("floor: attributes %d: %q", i, b)
			}
			s.seeEntry(&entries[i])
			i++
			return nil
		})
	}, err
}

// exchange is a command and its reply, as bytes.
type exchange struct{ command, reply []byte }

// exchange sends the command once, to know how long its reply is.
func (e *env) exchange(words ...string) (exchange, error) {
	command := []byte("*" + strconv.Itoa(len(words)) + "\r\n")
	for _, w := range words {
		command = append(command, "$"+strconv.Itoa(len(w))+"\r\n"+w+"\r\n"...)
	}
	size, err := e.replySize(command)
	return exchange{command, make([]byte, size)}, err
}

func (x exchange) do(conn io.ReadWriter) error {
	if _, err := conn.Write(x.command); err != nil {
		return err
	}
	_, err := io.ReadFull(conn, x.reply)
	return err
}

// each calls see for the elements of the reply.
func (x exchange) each(see func(b []byte) error) error {
	for v, err := range rueidisstream.NewReader(bytes.NewReader(x.reply)).Values() {
		if err == nil {
			err = see(v.Bytes())
		}
		if err != nil {
			return fmt.Errorf("floor: %w", err)
		}
	}
	return nil
}

// replySize sends the command once and counts its reply.
func (e *env) replySize(command []byte) (int64, error) {
	if _, err := e.bare.Write(command); err != nil {
		return 0, err
	}
	counted := &counter{r: e.bare}
	r := rueidisstream.NewReader(counted)
	for {
		if _, err := r.Next(); err == io.EOF {
			return counted.n, nil // a reply is alone on the connection: no byte behind it is there to be read
		} else if err != nil {
			return 0, err
		}
	}
}

type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
