package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// foreign is a peer that is not written in Go: a process that answers on its standard output what it is asked on its standard
// input. See benchmarks/hiredis.
type foreign struct {
	name    string
	version string
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

// answer is what a foreign peer did.
type answer struct {
	want
	n    int
	took time.Duration
	peak int64 // bytes of the process
}

// do asks for a command, such as "members KEY", as often as fits into d; 0 means once, with the sum of the elements.
func (f *foreign) do(ask string, d time.Duration) (a answer, err error) {
	if _, err := fmt.Fprintln(f.in, ask, d.Nanoseconds()); err != nil {
		return a, err
	}
	line, err := f.out.ReadString('\n')
	if err != nil {
		return a, fmt.Errorf("%s ended: %w", f.name, err)
	}
	_, err = fmt.Sscan(line, &a.n, &a.took, &a.elements, &a.bytes, &a.sum, &a.peak)
	return a, err
}

func (f *foreign) read(what, key string) impl {
	return impl{name: f.name, far: f, ask: what + " " + key}
}

// startForeign starts those that can be had, and notes those that cannot.
func (e *env) startForeign() {
	for _, p := range []struct {
		name, hint string
		command    func(host, port string) (*exec.Cmd, error)
	}{
		{"redis-rb", "apt-get install ruby-redis", ruby("ruby")},
		{"redis-rb-hiredis", "apt-get install ruby-redis ruby-hiredis", ruby("hiredis")},
		{"hiredis", "apt-get install gcc libc6-dev libhiredis-dev", e.compile},
	} {
		f, err := e.launch(p.name, p.command)
		if err != nil {
			e.notes = append(e.notes, fmt.Sprintf("%s (%.200v); to have it: %s", p.name, err, p.hint))
			continue
		}
		e.foreign = append(e.foreign, f)
	}
}

func (e *env) launch(name string, command func(host, port string) (*exec.Cmd, error)) (*foreign, error) {
	host, port, err := net.SplitHostPort(e.addr)
	if err != nil {
		return nil, err
	}
	cmd, err := command(host, port)
	if err != nil {
		return nil, err
	}
	f := &foreign{name: name, cmd: cmd}
	var said strings.Builder
	cmd.Stderr = &said
	if f.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	f.out = bufio.NewReader(out)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	e.host.Cleanup(func() { _ = errors.Join(f.in.Close(), cmd.Wait()) })
	line, err := f.out.ReadString('\n')
	if err != nil {
		_ = cmd.Wait()
		first, _, _ := strings.Cut(said.String(), "\n")
		return nil, errors.New("it does not start: " + first)
	}
	f.version = strings.TrimSpace(line)
	return f, nil
}

func ruby(driver string) func(host, port string) (*exec.Cmd, error) {
	return func(host, port string) (*exec.Cmd, error) {
		path, err := exec.LookPath("ruby")
		return exec.Command(path, filepath.Join("hiredis", "bench.rb"), host, port, driver), err
	}
}

// compile makes the program of hiredis.
func (e *env) compile(host, port string) (*exec.Cmd, error) {
	dir, err := os.MkdirTemp("", "rueidisx-hiredis-")
	if err != nil {
		return nil, err
	}
	e.host.Cleanup(func() { _ = os.RemoveAll(dir) })
	program := filepath.Join(dir, "bench")
	if out, err := exec.Command("gcc", "-O2", "-o", program, filepath.Join("hiredis", "bench.c"), "-lhiredis").CombinedOutput(); err != nil {
		first, _, _ := strings.Cut(string(out), "\n")
		return nil, fmt.Errorf("%w: %s", err, first)
	}
	return exec.Command(program, host, port), nil
}
