package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"strconv"
	"time"

	"github.com/redis/rueidis"
)

const (
	mib      = 1 << 20
	maxValue = 512 // MiB: Redis' limit for a string

	valueChunk   = 8 * mib // bytes of one APPEND; miniredis copies the whole value at each
	elementChunk = 1000    // elements of one SADD or HSET
	pipeline     = 16      // SADDs or HSETs of one DoMulti
	removeWithin = 10 * time.Second
)

// sizes says how big the data is.
type sizes struct {
	value   int // MiB
	members int
	fields  int
}

// or returns s with other's sizes where s has none.
func (s sizes) or(other sizes) sizes {
	return sizes{value: orInt(s.value, other.value), members: orInt(s.members, other.members), fields: orInt(s.fields, other.fields)}
}

func orInt(n, other int) int {
	if n == 0 {
		return other
	}
	return n
}

// data is what the demo puts into the server.
type data struct {
	client rueidis.Client
	sizes  sizes
	ours   bool // the server ends with the demo, and the data with it

	value, set, hash, none string            // keys; no key none exists
	sum                    [sha256.Size]byte // of the value
	members, fields        *census           // of the set and the hash
}

func newData(srv *server, cfg config) *data {
	defaults := sizes{value: 64, members: 1_000_000, fields: 100_000}
	if srv.mini {
		defaults.value, defaults.fields = 32, 50_000
	}
	if cfg.quick {
		defaults = sizes{value: defaults.value / 10, members: defaults.members / 10, fields: defaults.fields / 10}
	}
	// The braces keep the keys in one slot of a cluster; the text lets two demos use one server.
	prefix := "rueidisx:demo:{" + rand.Text()[:8] + "}:"
	d := &data{client: srv.client, sizes: cfg.sizes.or(defaults), ours: srv.child != nil}
	d.value, d.set, d.hash, d.none = prefix+"value", prefix+"set", prefix+"hash", prefix+"none"
	d.members, d.fields = newCensus("member:", d.sizes.members), newCensus("field:", d.sizes.fields)
	return d
}

// fill writes all the data, in pipelines of bounded size.
func (d *data) fill(ctx context.Context, progress io.Writer, out *printer) error {
	for _, part := range []struct {
		what, unit string
		size       int
		bytes      bool
		fill       func(ctx context.Context, advance func(n int)) error
	}{
		{"a string", "MiB", d.sizes.value, true, d.fillValue},
		{"a set", "members", d.sizes.members, false, d.fillSet},
		{"a hash", "fields", d.sizes.fields, false, d.fillHash},
	} {
		total := int64(part.size)
		if part.bytes {
			total *= mib
		}
		bar := newBar(progress, part.what, total, part.bytes)
		begin := time.Now()
		err := part.fill(ctx, func(n int) { _ = bar.Add(n) }) // a bar that cannot be drawn is no reason to stop
		_ = bar.Clear()
		if err != nil {
			return fmt.Errorf("filling %s: %w", part.what, err)
		}
		out.line("filled  %-8s of %9s %-7s  in %6.2f s", part.what, thousands(uint64(part.size)), part.unit, time.Since(begin).Seconds())
		if out.err != nil {
			return out.err
		}
	}
	return nil
}

// fillValue appends pseudo-random bytes and notes their sum.
func (d *data) fillValue(ctx context.Context, advance func(n int)) error {
	source, sum := mathrand.NewChaCha8([32]byte{}), sha256.New()
	for left := d.sizes.value * mib; left > 0; {
		chunk := make([]byte, min(left, valueChunk))
		_, _ = source.Read(chunk) // never fails
		sum.Write(chunk)
		if err := d.send(ctx, d.client.B().Append().Key(d.value).Value(rueidis.BinaryString(chunk)).Build()); err != nil {
			return err
		}
		left -= len(chunk)
		advance(len(chunk))
	}
	sum.Sum(d.sum[:0])
	return nil
}

func (d *data) fillSet(ctx context.Context, advance func(n int)) error {
	return d.fillElements(ctx, d.sizes.members, advance, func(from, to int) rueidis.Completed {
		cmd := d.client.B().Sadd().Key(d.set).Member()
		for i := from; i < to; i++ {
			cmd = cmd.Member("member:" + strconv.Itoa(i))
		}
		return cmd.Build()
	})
}

func (d *data) fillHash(ctx context.Context, advance func(n int)) error {
	return d.fillElements(ctx, d.sizes.fields, advance, func(from, to int) rueidis.Completed {
		cmd := d.client.B().Hset().Key(d.hash).FieldValue()
		for i := from; i < to; i++ {
			number := strconv.Itoa(i)
			cmd = cmd.FieldValue("field:"+number, "value:"+number)
		}
		return cmd.Build()
	})
}

// fillElements sends the commands that command makes for the elements 0 to n, by pipelines.
func (d *data) fillElements(ctx context.Context, n int, advance func(n int), command func(from, to int) rueidis.Completed) error {
	for from := 0; from < n; {
		begin := from
		var cmds []rueidis.Completed
		for ; from < n && len(cmds) < pipeline; from = min(from+elementChunk, n) {
			cmds = append(cmds, command(from, min(from+elementChunk, n)))
		}
		if err := d.send(ctx, cmds...); err != nil {
			return err
		}
		advance(from - begin)
	}
	return nil
}

func (d *data) send(ctx context.Context, cmds ...rueidis.Completed) error {
	for _, reply := range d.client.DoMulti(ctx, cmds...) {
		if err := reply.Error(); err != nil {
			return err
		}
	}
	return nil
}

// remove deletes the keys from a server that is not ours, also when the demo was interrupted.
func (d *data) remove() error {
	if d.ours {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), removeWithin)
	defer cancel()
	if err := d.client.Do(ctx, d.client.B().Unlink().Key(d.value, d.set, d.hash).Build()).Error(); err != nil {
		return fmt.Errorf("the keys %s, %s and %s were not deleted: %w", d.value, d.set, d.hash, err)
	}
	return nil
}
