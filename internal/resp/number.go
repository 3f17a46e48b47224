package resp

import (
	"fmt"
	"math"
)

// parseLength reads the length in a header: digits, "-1" (a null) or "?" (unknown, also -1, with streamed true).
func parseLength(b []byte) (n int64, streamed bool, err error) {
	switch {
	case len(b) == 1 && b[0] == '?':
		return Unknown, true, nil
	case len(b) == 2 && b[0] == '-' && b[1] == '1':
		return -1, false, nil
	}
	n, ok := parseDigits(b)
	if !ok {
		return 0, false, fmt.Errorf("%w: length %.40q", ErrProtocol, b)
	}
	return n, false, nil
}

// parseDigits reads an unsigned decimal number that an int64 can hold.
func parseDigits(b []byte) (n int64, ok bool) {
	if len(b) == 0 {
		return 0, false
	}
	for _, c := range b {
		d := c - '0'
		if d > 9 || n > (math.MaxInt64-int64(d))/10 {
			return 0, false
		}
		n = n*10 + int64(d)
	}
	return n, true
}

// isInteger tells whether b is a signed decimal number of 64 bits.
func isInteger(b []byte) bool {
	negative := false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		negative = b[0] == '-'
		b = b[1:]
	}
	if _, ok := parseDigits(b); ok {
		return true
	}
	return negative && string(b) == "9223372036854775808"
}
