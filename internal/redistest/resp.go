package redistest

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Largest command that the fake server reads: elements, and bytes of one element.
const (
	maxArgs   = 1 << 20
	maxArgLen = 512 << 20
)

// Bulk returns s as a RESP bulk string, for the script of a [Fake].
func Bulk(s string) string {
	return "$" + strconv.Itoa(len(s)) + "\r\n" + s + "\r\n"
}

// Array returns a RESP array of elements that are in RESP already. Without elements it is the empty array.
func Array(elements ...string) string {
	return aggregate('*', len(elements), elements)
}

// Set returns a RESP3 set of elements that are in RESP already.
func Set(elements ...string) string {
	return aggregate('~', len(elements), elements)
}

// Map returns a RESP3 map of keys and values that alternate and are in RESP already. An odd last element is a key without a value:
// malformed on purpose.
func Map(pairs ...string) string {
	return aggregate('%', (len(pairs)+1)/2, pairs)
}

// Bulks returns each of the strings as a RESP bulk string, as [Array], [Set] and [Map] take them.
func Bulks(strs ...string) []string {
	out := make([]string, len(strs))
	for i, s := range strs {
		out[i] = Bulk(s)
	}
	return out
}

func aggregate(kind byte, n int, elements []string) string {
	return string(kind) + strconv.Itoa(n) + "\r\n" + strings.Join(elements, "")
}

// readCommand reads one command, an array of bulk strings. io.EOF is the end between commands.
func readCommand(r *bufio.Reader) ([]string, error) {
	n, err := readLength(r, '*', maxArgs)
	if err != nil {
		return nil, err
	}
	var cmd []string
	for range n {
		size, err := readLength(r, '$', maxArgLen)
		if err != nil {
			return nil, unexpected(err)
		}
		var arg strings.Builder
		if _, err := io.CopyN(&arg, r, int64(size)); err != nil {
			return nil, unexpected(err)
		}
		var end [2]byte
		if _, err := io.ReadFull(r, end[:]); err != nil {
			return nil, unexpected(err)
		}
		if string(end[:]) != "\r\n" {
			return nil, &malformedError{fmt.Sprintf("an argument of %d bytes ends in %q", size, end)}
		}
		cmd = append(cmd, arg.String())
	}
	return cmd, nil
}

func readLength(r *bufio.Reader, kind byte, limit int) (int, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		if line != "" {
			err = unexpected(err)
		}
		return 0, err
	}
	digits := strings.TrimSuffix(line[1:], "\r\n")
	n, err := strconv.Atoi(digits)
	if line[0] != kind || err != nil || n < 0 || n > limit {
		return 0, &malformedError{fmt.Sprintf("got %.40q where a %q line belongs", line, kind)}
	}
	return n, nil
}

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// malformedError says that a client sent what is no command.
type malformedError struct{ text string }

func (e *malformedError) Error() string { return "redistest: malformed command: " + e.text }
