package redjet

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/rueidisx/rueidisx/rueidisstream"
)

// streamAbove is how many bytes a LenReader may have to be read at once: SetFrom needs more round trips than SET.
const streamAbove = 256 << 10

// upload is a SET whose value is streamed.
type upload struct {
	name string
	key  string
	r    LenReader
	n    int
	opts []rueidisstream.Option
}

// newUpload returns nil for a command that is sent as it is.
func newUpload(name string, args []any) *upload {
	at := 1
	switch name {
	case "SET":
	case "SETEX", "PSETEX":
		at = 2
	default:
		return nil
	}
	if len(args) <= at || at == 2 && len(args) != 3 {
		return nil
	}
	r, ok := args[at].(LenReader)
	if !ok || r.Len() <= streamAbove {
		return nil
	}
	var words [8]string
	if len(args) > len(words) {
		return nil
	}
	for i, arg := range args {
		if _, ok := arg.(LenReader); ok {
			if i != at {
				return nil
			}
			continue
		}
		var err error
		if words[i], err = word(arg, new(int)); err != nil {
			return nil
		}
	}
	u := &upload{name: name, key: words[0], r: r, n: r.Len()}
	switch name {
	case "SETEX":
		ok = u.expire("EX", words[1])
	case "PSETEX":
		ok = u.expire("PX", words[1])
	default:
		ok = u.options(words[2:len(args)])
	}
	if !ok {
		return nil
	}
	return u
}

// options tells whether SetFrom has all of SET's options.
func (u *upload) options(words []string) bool {
	switch {
	case len(words) == 0:
		return true
	case len(words) == 1 && strings.EqualFold(words[0], "KEEPTTL"):
		u.opts = []rueidisstream.Option{rueidisstream.WithKeepTTL()}
		return true
	case len(words) == 2:
		return u.expire(strings.ToUpper(words[0]), words[1])
	}
	return false
}

// expire tells whether SetFrom has the expiry. What it has not, the server may have an error for.
func (u *upload) expire(option, word string) bool {
	n, err := strconv.ParseInt(word, 10, 64)
	if err != nil || n <= 0 {
		return false
	}
	if option == "EX" || option == "EXAT" {
		if n > math.MaxInt64/1000 {
			return false
		}
		n *= 1000
	}
	var opt rueidisstream.Option
	switch option {
	case "EX", "PX":
		if n > math.MaxInt64/int64(time.Millisecond) {
			return false
		}
		opt = rueidisstream.WithExpire(time.Duration(n) * time.Millisecond)
	case "EXAT", "PXAT":
		if n <= time.Now().UnixMilli() {
			return false // SET would delete the key
		}
		opt = rueidisstream.WithExpireAt(time.UnixMilli(n))
	default:
		return false
	}
	u.opts = []rueidisstream.Option{opt}
	return true
}

// jobError is the error of one command that was not the server's.
type jobError struct{ err error }

func (e *jobError) Error() string { return e.err.Error() }

// start runs the upload. Its reply is that of SET.
func (u *upload) start(p *Pipeline) error {
	_, err := rueidisstream.SetFrom(p.ctx, p.client.client, u.key, &exactly{r: u.r, left: u.n}, u.opts...)
	switch {
	case err == nil:
		p.rd = rueidisstream.NewReader(strings.NewReader("+OK\r\n"))
	case fromServer(err):
		p.own = &Error{err.Error()}
	default:
		p.own = &jobError{fmt.Errorf("redjet: %s: %w", u.name, err)}
	}
	return nil
}

// exactly reads so many bytes of r, no less and no more.
type exactly struct {
	r    io.Reader
	left int
}

func (e *exactly) Read(b []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n, err := e.r.Read(b[:min(len(b), e.left)])
	if e.left -= n; e.left > 0 {
		return n, unexpected(err)
	}
	if err == io.EOF {
		err = nil
	}
	return n, err
}
