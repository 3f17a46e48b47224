package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"sync/atomic"
	"time"
)

// childVariable makes this program a child of itself: it says what the child does.
const childVariable = "RUEIDISX_BENCH_CHILD"

func runChild(what string, in io.Reader, out io.Writer) error {
	switch what {
	case "bystander":
		return bystand(in, out)
	case "memory":
		return measureMemory(in, out)
	default:
		return fmt.Errorf("no such child: %s", what)
	}
}

// self starts this program once more.
func self(what string) (*exec.Cmd, error) {
	path, err := os.Executable()
	cmd := exec.Command(path)
	cmd.Env = append(os.Environ(), childVariable+"="+what)
	cmd.Stderr = os.Stderr
	return cmd, err
}

// bystander is another user of the server, in a process of its own: it sends PING about a thousand times a second, one after the
// other, and knows how long each took.
type bystander struct {
	in  *json.Encoder
	out *json.Decoder
}

func newBystander(e *env) (*bystander, error) {
	cmd, err := self("bystander")
	if err != nil {
		return nil, err
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	e.host.Cleanup(func() { _ = errors.Join(in.Close(), cmd.Wait()) })
	b := &bystander{json.NewEncoder(in), json.NewDecoder(out)}
	return b, b.in.Encode(e.addr)
}

// begin makes it ping; end tells what it had to wait. Both do nothing on a nil bystander.
func (b *bystander) begin() error {
	if b == nil {
		return nil
	}
	return b.in.Encode(true)
}

func (b *bystander) end() (map[string]time.Duration, error) {
	if b == nil {
		return nil, nil
	}
	var waits map[string]time.Duration
	if err := b.in.Encode(false); err != nil {
		return nil, err
	}
	return waits, b.out.Decode(&waits)
}

// bystand is what the bystander does: it reads an address, then true and false by turns.
func bystand(in io.Reader, out io.Writer) error {
	orders := json.NewDecoder(in)
	var addr string
	if err := orders.Decode(&addr); err != nil {
		return err
	}
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	br := bufio.NewReader(conn)
	var going atomic.Bool
	var waits []time.Duration
	ended := make(chan error)
	for {
		var on bool
		if err := orders.Decode(&on); err != nil {
			return nil // the parent has ended
		}
		if on {
			going.Store(true)
			waits = waits[:0]
			go func() { ended <- pings(conn, br, &going, &waits) }()
			continue
		}
		going.Store(false)
		if err := <-ended; err != nil {
			return err
		}
		if err := json.NewEncoder(out).Encode(quantiles(waits)); err != nil {
			return err
		}
	}
}

func pings(w io.Writer, br *bufio.Reader, going *atomic.Bool, waits *[]time.Duration) error {
	for {
		begin := time.Now()
		if _, err := io.WriteString(w, "PING\r\n"); err != nil {
			return err
		}
		if _, err := br.ReadSlice('\n'); err != nil {
			return err
		}
		*waits = append(*waits, time.Since(begin))
		if !going.Load() {
			return nil
		}
		time.Sleep(time.Millisecond)
	}
}

// quantiles names the median, the 99th percentile and the worst.
func quantiles(waits []time.Duration) map[string]time.Duration {
	slices.Sort(waits)
	at := func(part float64) time.Duration { return waits[min(int(part*float64(len(waits))), len(waits)-1)] }
	return map[string]time.Duration{"ping-p50-ns": at(0.5), "ping-p99-ns": at(0.99), "ping-max-ns": at(1)}
}
