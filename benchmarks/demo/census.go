package main

import (
	"fmt"
	"strings"
)

// census proves that each of n numbered elements is seen once and nothing else is.
type census struct {
	prefix string
	n      int
	seen   []uint64 // a bit for each number
	count  int
	err    error // the first element that is wrong
}

func newCensus(prefix string, n int) *census {
	return &census{prefix: prefix, n: n, seen: make([]uint64, n/64+1)}
}

// reset forgets what was seen. It allocates nothing, so a census can be taken while memory is measured.
func (c *census) reset() {
	clear(c.seen)
	c.count, c.err = 0, nil
}

// see notes an element, which is the prefix and a number in decimal. It keeps nothing of element, and so a caller may convert a
// string to bytes for it without an allocation.
func (c *census) see(element []byte) {
	i, ok := number(element, c.prefix)
	switch {
	case c.err != nil:
	case !ok || i >= c.n:
		c.err = fmt.Errorf("the element %.40q was never put in", string(element))
	case c.seen[i/64]&(1<<(i%64)) != 0:
		c.err = fmt.Errorf("the element %.40q came twice", string(element))
	default:
		c.seen[i/64] |= 1 << (i % 64)
		c.count++
	}
}

// seePair notes a field, whose value must have the same number.
func (c *census) seePair(field, value []byte) {
	c.see(field)
	f, _ := number(field, c.prefix)
	if v, ok := number(value, "value:"); c.err == nil && (!ok || v != f) {
		c.err = fmt.Errorf("the field %.40q has the value %.40q", string(field), string(value))
	}
}

// complete returns what was wrong or missing.
func (c *census) complete() error {
	if c.err == nil && c.count != c.n {
		return fmt.Errorf("%d elements came, not %d", c.count, c.n)
	}
	return c.err
}

// number reads the decimal number behind prefix.
func number(element []byte, prefix string) (int, bool) {
	const maxDigits = 18 // always fit
	digits, found := strings.CutPrefix(string(element), prefix)
	if !found || digits == "" || len(digits) > maxDigits {
		return 0, false
	}
	n := 0
	for _, d := range []byte(digits) {
		if d < '0' || d > '9' {
			return 0, false
		}
		n = n*10 + int(d-'0')
	}
	return n, true
}
