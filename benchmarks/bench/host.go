package main

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
)

// host is a testing.TB outside of a test, for what starts servers and proxies on behalf of one. It has what those call; the
// embedded interface is nil.
type host struct {
	testing.TB
	cleanups []func()
	errs     []error
}

// withHost runs fn with a host, then what fn left to be cleaned up. What Fatalf is told is the error, then.
func withHost(fn func(h *host) error) error {
	h := new(host)
	done := make(chan error, 1)
	go func() { // Fatalf ends the goroutine
		var err error
		defer func() {
			for _, cleanup := range slices.Backward(h.cleanups) {
				cleanup()
			}
			done <- errors.Join(append(h.errs, err)...)
		}()
		err = fn(h)
	}()
	return <-done
}

func (h *host) Helper() {}

func (h *host) Failed() bool { return len(h.errs) > 0 }

func (h *host) Cleanup(fn func()) { h.cleanups = append(h.cleanups, fn) }

func (h *host) Errorf(format string, args ...any) {
	h.errs = append(h.errs, fmt.Errorf(format, args...))
}

func (h *host) Fatalf(format string, args ...any) {
	h.Errorf(format, args...)
	runtime.Goexit()
}

// Skipf is for where there is no server: nothing can be measured then.
func (h *host) Skipf(format string, args ...any) { h.Fatalf(format, args...) }

// until runs what was to be cleaned up since mark.
func (h *host) until(mark int) {
	for len(h.cleanups) > mark {
		last := h.cleanups[len(h.cleanups)-1]
		h.cleanups = h.cleanups[:len(h.cleanups)-1]
		last()
	}
}
