package redjet

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/redis/rueidis"
)

// MaxBuffered is how many bytes the LenReaders of one command may have together, unless they are streamed.
const MaxBuffered = 64 << 20

// LenReader is an io.Reader that knows how many bytes it has, such as *bytes.Buffer, *bytes.Reader, *strings.Reader, and what NewLenReader
// makes. As an argument it stands for its next Len bytes; if it has fewer, the command is not executed, and its error is
// io.ErrUnexpectedEOF, wrapped.
//
// The value of a SET, SETEX or PSETEX of more than 256 KiB is streamed, by rueidisstream.SetFrom: it stands never in memory, and the key
// has the old value or the new one, whole, at any time. It is read when the reply is due: the next one to be read, or the Pipeline being
// closed. So keep a file open until then. SET's options EX, PX, EXAT, PXAT and KEEPTTL go with it.
//
// Any other is read into memory at once: smaller ones, those of SET with NX, XX, GET or another option, those between MULTI and EXEC, and those
// of other commands. Together they may have MaxBuffered bytes; more is an error.
type LenReader interface {
	Len() int
	io.Reader
}

// NewLenReader returns a LenReader of the next size bytes of r, such as a file's.
func NewLenReader(r io.Reader, size int) LenReader { return &lenReader{r, size} }

type lenReader struct {
	io.Reader
	size int
}

func (r *lenReader) Len() int { return r.size }

// add queues a command. An argument that cannot be encoded makes the Pipeline useless: what was not sent is not sent any more.
func (p *Pipeline) add(cmd string, args []any) {
	if p.err != nil || p.closed {
		return
	}
	name := strings.ToUpper(cmd)
	if err := p.queue(name, args); err != nil {
		p.err = fmt.Errorf("redjet: %.40s: %w", name, err)
	}
}

func (p *Pipeline) queue(name string, args []any) error {
	switch {
	case name == "":
		return errors.New("a command without a name")
	case p.sub.Load() != nil || p.subscribes():
		return errors.New("only messages can be read after a subscription")
	case isSubscribe(name):
		return p.queueSubscribe(name, args)
	case strings.HasSuffix(name, "SUBSCRIBE"):
		return errors.New("a subscription is ended by Close")
	}
	if !p.state.special() {
		if up := newUpload(name, args); up != nil {
			p.cmds, p.infos = append(p.cmds, rueidis.Completed{}), append(p.infos, info{job: up})
			return nil
		}
	}
	var room [16]string
	words := append(room[:0], name)
	left := MaxBuffered
	for i, arg := range args {
		w, err := word(arg, &left)
		if err != nil {
			return fmt.Errorf("argument %d: %w", i+1, err)
		}
		words = append(words, w)
	}
	in := info{shape: shapeOf(words)}
	in.exec = p.state.note(words, in.shape)
	p.cmds, p.infos = append(p.cmds, p.client.build(words)), append(p.infos, in)
	return nil
}

// build makes the command, with the key by which a cluster knows its node.
func (c *Client) build(words []string) rueidis.Completed {
	cmd := c.client.B().Arbitrary(words[0])
	if key := c.key(words); key > 0 {
		cmd = cmd.Args(words[1:key]...).Keys(words[key]).Args(words[key+1:]...)
	} else {
		cmd = cmd.Args(words[1:]...)
	}
	switch {
	case isBlocking(words):
		return cmd.Blocking()
	case isReadOnly(words[0]):
		return cmd.ReadOnly()
	}
	return cmd.Build()
}

// key returns which word is the key, 0 for none or if it does not matter.
func (c *Client) key(words []string) int {
	if !c.cluster {
		return 0
	}
	return firstKey(words)
}

// word makes an argument a word of the command. left is how much of readers may be read.
func word(arg any, left *int) (string, error) {
	switch a := arg.(type) {
	case string:
		return a, nil
	case []byte:
		return string(a), nil
	case LenReader:
		return readArgument(a, left)
	case fmt.Stringer:
		return a.String(), nil
	case int:
		return strconv.Itoa(a), nil
	case int8:
		return strconv.FormatInt(int64(a), 10), nil
	case int16:
		return strconv.FormatInt(int64(a), 10), nil
	case int32:
		return strconv.FormatInt(int64(a), 10), nil
	case int64:
		return strconv.FormatInt(a, 10), nil
	case uint:
		return strconv.FormatUint(uint64(a), 10), nil
	case uint8:
		return strconv.FormatUint(uint64(a), 10), nil
	case uint16:
		return strconv.FormatUint(uint64(a), 10), nil
	case uint32:
		return strconv.FormatUint(uint64(a), 10), nil
	case uint64:
		return strconv.FormatUint(a, 10), nil
	}
	b, err := json.Marshal(arg) // floats, bool and nil as well
	return string(b), err
}

func readArgument(r LenReader, left *int) (string, error) {
	n := r.Len()
	switch {
	case n < 0:
		return "", fmt.Errorf("a LenReader of %d bytes", n)
	case n > *left:
		return "", fmt.Errorf("LenReaders of more than %d bytes, which is what one command takes into memory; only the value of SET, SETEX and "+
			"PSETEX, without options such as NX, XX and GET and outside of MULTI, is streamed", MaxBuffered)
	}
	*left -= n
	var sb strings.Builder
	sb.Grow(n)
	if _, err := io.CopyN(&sb, r, int64(n)); err != nil {
		return "", fmt.Errorf("a LenReader of %d bytes: after %d: %w", n, sb.Len(), unexpected(err))
	}
	return sb.String(), nil
}

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
