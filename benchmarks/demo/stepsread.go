package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"

	"github.com/rueidisx/rueidisx/rueidisstream"
)

// copyValue is a big string on its way to an io.Writer.
func (d *data) copyValue() step {
	return step{
		title:  "Copy a big string to an io.Writer",
		what:   fmt.Sprintf("GET, %d MiB", d.sizes.value),
		before: `b, err := client.Do(ctx, cmd).AsBytes(); w.Write(b)`,
		now:    `n, err := rueidisstream.Copy(ctx, client, cmd, w)`,
		do: way{"client.Do", 1, func(ctx context.Context, m *meter) error {
			b, err := d.client.Do(ctx, d.get(d.value)).AsBytes()
			if err != nil {
				return err
			}
			m.element()
			sum := sha256.New()
			sum.Write(b)
			return d.sameSum(sum)
		}},
		stream: way{"Copy", 1, func(ctx context.Context, m *meter) error {
			sum := sha256.New()
			_, err := rueidisstream.Copy(ctx, d.client, d.get(d.value), firstWrite{sum, m})
			if err != nil {
				return err
			}
			return d.sameSum(sum)
		}},
		checked: fmt.Sprintf("SHA-256 %x… is that of the bytes that were put in, both times", d.sum[:8]),
	}
}

// eachMember is a loop over a big set.
func (d *data) eachMember() step {
	return step{
		title:  "Loop over a big set",
		what:   fmt.Sprintf("SMEMBERS, %s", thousands(uint64(d.sizes.members))),
		before: `members, err := client.Do(ctx, cmd).AsStrSlice(); for _, m := range members`,
		now:    `for m, err := range rueidisstream.Values(ctx, client, cmd)`,
		do: way{"client.Do", 1, func(ctx context.Context, m *meter) error {
			d.members.reset()
			members, err := d.client.Do(ctx, d.smembers()).AsStrSlice()
			if err != nil {
				return err
			}
			for _, member := range members {
				m.element()
				d.members.see([]byte(member))
			}
			return d.members.complete()
		}},
		stream: way{"Values", 1, func(ctx context.Context, m *meter) error {
			d.members.reset()
			for member, err := range rueidisstream.Values(ctx, d.client, d.smembers()) {
				if err != nil {
					return err
				}
				m.element()
				d.members.see(member.Bytes())
			}
			return d.members.complete()
		}},
		checked: "each member came exactly once, and nothing else, both times",
	}
}

// eachField is a loop over a big hash.
func (d *data) eachField() step {
	return step{
		title:  "Loop over a big hash",
		what:   fmt.Sprintf("HGETALL, %s", thousands(uint64(d.sizes.fields))),
		before: `fields, err := client.Do(ctx, cmd).AsStrMap(); for field, value := range fields`,
		now:    `for p, err := range rueidisstream.Pairs(ctx, client, cmd)`,
		do: way{"client.Do", 1, func(ctx context.Context, m *meter) error {
			d.fields.reset()
			fields, err := d.client.Do(ctx, d.hgetall()).AsStrMap()
			if err != nil {
				return err
			}
			for field, value := range fields {
				m.element()
				d.fields.seePair([]byte(field), []byte(value))
			}
			return d.fields.complete()
		}},
		stream: way{"Pairs", 1, func(ctx context.Context, m *meter) error {
			d.fields.reset()
			for p, err := range rueidisstream.Pairs(ctx, d.client, d.hgetall()) {
				if err != nil {
					return err
				}
				m.element()
				d.fields.seePair(p.Key.Bytes(), p.Value.Bytes())
			}
			return d.fields.complete()
		}},
		checked: "each field came exactly once, with its own value, both times",
	}
}

// sameSum compares what was read with what was put in.
func (d *data) sameSum(sum hash.Hash) error {
	if got := sum.Sum(nil); string(got) != string(d.sum[:]) {
		return fmt.Errorf("the value's SHA-256 is %x, not %x", got, d.sum)
	}
	return nil
}

// firstWrite notes when the first bytes come.
type firstWrite struct {
	io.Writer
	m *meter
}

func (w firstWrite) Write(p []byte) (int, error) {
	w.m.element()
	return w.Writer.Write(p)
}
