package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/rueidisstream"
)

const (
	wanted      = 10  // elements until a loop is left
	leaves      = 100 // loops that are left
	wholeLeaves = 5   // times that client.Do reads all for the first few
	echoes      = 100
)

// leaveEarly is a loop that has enough after a few elements, and the client's use after it. It takes the hash, because a
// server makes the whole reply to SMEMBERS before it sends any of it: a hundred times a million members would take minutes.
func (d *data) leaveEarly() step {
	few := min(wanted, d.sizes.fields)
	return step{
		title:  fmt.Sprintf("Leave a big hash after %d fields, %d times", few, leaves),
		what:   fmt.Sprintf("%d of HGETALL, mean", few),
		before: `fields, err := client.Do(ctx, cmd).AsStrMap(), which reads all of it`,
		now:    `for p, err := range rueidisstream.Pairs(ctx, client, cmd) { …; break }`,
		do: way{"client.Do", wholeLeaves, func(ctx context.Context, m *meter) error {
			for range wholeLeaves {
				m.ask()
				fields, err := d.client.Do(ctx, d.hgetall()).AsStrMap()
				if err != nil {
					return err
				}
				m.element()
				if len(fields) != d.sizes.fields {
					return fmt.Errorf("%d fields came, not %d", len(fields), d.sizes.fields)
				}
			}
			return nil
		}},
		stream: way{"Pairs", leaves, func(ctx context.Context, m *meter) error {
			for range leaves {
				if err := d.someFields(ctx, m, few); err != nil {
					return err
				}
			}
			return nil
		}},
		after:   func(ctx context.Context) error { return d.echo(ctx, echoes) },
		checked: fmt.Sprintf("%d fields came each time; then %d ECHOs by client.Do and %d by Copy were right", few, echoes, echoes),
	}
}

// someFields reads a few fields of the hash and checks them.
func (d *data) someFields(ctx context.Context, m *meter, few int) error {
	d.fields.reset()
	m.ask()
	for p, err := range rueidisstream.Pairs(ctx, d.client, d.hgetall()) {
		if err != nil {
			return err
		}
		m.element()
		if d.fields.seePair(p.Key.Bytes(), p.Value.Bytes()); d.fields.count == few {
			break
		}
	}
	if d.fields.err == nil && d.fields.count != few {
		return fmt.Errorf("%d fields came, not %d", d.fields.count, few)
	}
	return d.fields.err
}

// pipeline is a pipeline in which one command finds its key, one does not, and one is wrong.
func (d *data) pipeline() step {
	return step{
		title:  "Pipeline a hit, a miss and a mistake",
		what:   "3 GETs, one DoMulti",
		before: `for _, reply := range client.DoMulti(ctx, cmds...)`,
		now:    `for r, err := range rueidisstream.DoMulti(ctx, client, cmds).All()`,
		do: way{"client.DoMulti", 1, func(ctx context.Context, m *meter) error {
			var outcomes []error
			sum := sha256.New()
			for _, reply := range d.client.DoMulti(ctx, d.hitMissMistake()...) {
				m.element()
				b, err := reply.AsBytes()
				sum.Write(b) // of the hit, the others have none
				outcomes = append(outcomes, err)
			}
			return errors.Join(d.sameSum(sum), sameOutcomes(outcomes))
		}},
		stream: way{"DoMulti", 1, func(ctx context.Context, m *meter) error {
			var outcomes []error
			sum := sha256.New()
			for r, err := range rueidisstream.DoMulti(ctx, d.client, d.hitMissMistake()).All() {
				if err == nil {
					_, err = r.WriteTo(firstWrite{sum, m})
				}
				outcomes = append(outcomes, err)
			}
			return errors.Join(d.sameSum(sum), sameOutcomes(outcomes))
		}},
		checked: "the hit gave the right bytes, the miss rueidis.Nil, GET of the set a WRONGTYPE, both times",
	}
}

func (d *data) hitMissMistake() []rueidis.Completed {
	return []rueidis.Completed{d.get(d.value), d.get(d.none), d.get(d.set)}
}

// sameOutcomes checks that each command of hitMissMistake has its own outcome.
func sameOutcomes(got []error) error {
	if len(got) != 3 {
		return fmt.Errorf("3 commands had %d replies: %v", len(got), got)
	}
	wrongType, _ := rueidis.IsRedisErr(got[2])
	if got[0] != nil || !rueidis.IsRedisNil(got[1]) || wrongType == nil || !strings.HasPrefix(wrongType.Error(), "WRONGTYPE") {
		return fmt.Errorf("the replies were %v, not a value, a nil and a WRONGTYPE", got)
	}
	return nil
}
