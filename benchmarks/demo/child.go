package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/rueidis"
)

// childVariable is the environment variable that makes this program a miniredis.
const childVariable = "RUEIDISX_DEMO_CHILD"

// child is a server process and the directory that is its own.
type child struct {
	cmd   *exec.Cmd
	dir   string
	log   string         // the file that has what the server printed
	stdin io.WriteCloser // open as long as the server shall live
	done  chan struct{}  // closed when the process has ended
}

// startChild starts the command that command makes of a new directory.
func startChild(command func(dir string) *exec.Cmd) (*child, error) {
	dir, err := os.MkdirTemp("", "rueidisx-demo-")
	if err != nil {
		return nil, err
	}
	c := &child{cmd: command(dir), dir: dir, log: filepath.Join(dir, "log"), done: make(chan struct{})}
	if err := c.start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	go func() {
		_ = c.cmd.Wait() // it is killed, so it ends with an error
		close(c.done)
	}()
	return c, nil
}

func (c *child) start() error {
	log, err := os.Create(c.log)
	if err != nil {
		return err
	}
	defer log.Close() // the process has its own
	c.cmd.Dir, c.cmd.Stdout, c.cmd.Stderr = c.dir, log, log
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return err
	}
	if err := c.cmd.Start(); err != nil {
		return errors.Join(err, c.stdin.Close())
	}
	return nil
}

// stop ends the process and removes its directory. It is safe on a nil child.
func (c *child) stop() error {
	if c == nil {
		return nil
	}
	_ = c.cmd.Process.Kill() // there is nothing to be saved
	<-c.done
	return os.RemoveAll(c.dir)
}

// connect returns a client as soon as the server takes one.
func (c *child) connect(ctx context.Context, opt rueidis.ClientOption) (client rueidis.Client, err error) {
	err = c.poll(ctx, func() (err error) {
		client, err = newClient(opt)
		return err
	})
	return client, err
}

// firstLine returns the first line that the server prints.
func (c *child) firstLine(ctx context.Context) (line string, err error) {
	err = c.poll(ctx, func() error {
		log, err := os.ReadFile(c.log)
		if err != nil {
			return err
		}
		first, _, found := strings.Cut(string(log), "\n")
		if !found {
			return errors.New("it has not said where it listens")
		}
		line = first
		return nil
	})
	return line, err
}

// poll calls try until it succeeds, the process ends or time is up.
func (c *child) poll(ctx context.Context, try func() error) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-c.done:
			log, _ := os.ReadFile(c.log)
			return fmt.Errorf("it ended at once: %.2000s", log)
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		}
	}
}

// serveMiniredis is what the child does that is a miniredis: it prints where it listens, and ends when the demo does.
func serveMiniredis(stdin io.Reader, stdout io.Writer) error {
	m := miniredis.NewMiniRedis()
	if err := m.Start(); err != nil {
		return err
	}
	defer m.Close()
	if _, err := fmt.Fprintln(stdout, m.Addr()); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, stdin)
	return err
}
