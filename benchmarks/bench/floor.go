package main

import (
	"bytes"
	"fmt"
	"io"
	"strconv"

	"github.com/rueidisx/rueidisx/rueidisstream"
)

// floor is what no client can be faster than: the reply's bytes, whose number is known, out of a socket into one buffer, without
// a look at them.
func (e *env) floor(want want, words ...string) (impl, error) {
	command := []byte("*" + strconv.Itoa(len(words)) + "\r\n")
	for _, w := range words {
		command = append(command, "$"+strconv.Itoa(len(w))+"\r\n"+w+"\r\n"...)
	}
	size, err := e.replySize(command)
	if err != nil {
		return impl{}, err
	}
	buf := make([]byte, size)
	return impl{name: "floor", op: func(s *sink) error {
		if _, err := e.bare.Write(command); err != nil {
			return err
		}
		if _, err := io.ReadFull(e.bare, buf); err != nil {
			return err
		}
		if !s.check {
			s.elements, s.bytes = want.elements, want.bytes
			return nil
		}
		for v, err := range rueidisstream.NewReader(bytes.NewReader(buf)).Values() {
			if err != nil {
				return fmt.Errorf("floor: %w", err)
			}
			s.see(v.Bytes())
		}
		return nil
	}}, nil
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
