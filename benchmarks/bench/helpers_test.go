package main

import (
	"bufio"
	"io"
	"os"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	if child := os.Getenv(childVariable); child != "" {
		if err := runChild(child, os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

func newReader(text string) *bufio.Reader { return bufio.NewReader(strings.NewReader(text)) }
