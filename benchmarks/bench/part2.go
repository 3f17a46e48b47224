package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// collections is part 2. As published, the benchmark of hiredis adds the same 16 asterisks 5,000 times, so that its set has one
// member and its JSON 5,000 strings; as meant, both have 5,000 different ones.
func collections(e *env, r *run) error {
	sizes, big := []int{10, 100, 1000, 5000, 10_000, 100_000}, []int{1_000_000}
	if e.opt.quick {
		sizes, big = []int{10, 1000}, []int{20_000}
	}
	published, err := e.published()
	if err != nil {
		return err
	}
	if err := r.do(published...); err != nil {
		return err
	}
	for _, kind := range kinds {
		for _, size := range append(sizes, big...) {
			if !r.wants(fmt.Sprintf("%s/size=%d", kind, size)) {
				continue
			}
			c, err := e.whole(kind, size)
			if err != nil {
				return err
			}
			c.rounds, c.time = 10, 100*time.Millisecond
			if kind != smembers {
				c.rounds, c.time = 5, 30*time.Millisecond
			}
			if kind != smembers && size >= 1_000_000 {
				c.rounds = 3
			}
			if err := r.do(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// whole is the cell of one collection.
func (e *env) whole(kind string, size int) (cell, error) {
	w, err := e.fill(kind, size)
	if err != nil {
		return cell{}, err
	}
	c := cell{name: fmt.Sprintf("%s/size=%d", kind, size), want: w}
	k := key(kind, size)
	for _, p := range e.peers() {
		if im, ok := p.read(kind, k); ok {
			c.impls = append(c.impls, im)
		}
	}
	if kind != smembers {
		return c, nil
	}
	for _, f := range e.foreign {
		im := f.read("members", k)
		if f.name == "redis-rb" && size > 10_000 {
			im.most = 2 // it takes seconds
		}
		if f.name == "redis-rb" && size > 100_000 {
			continue // it takes a quarter of a minute
		}
		c.impls = append(c.impls, im)
	}
	floor, err := e.floor(w, smembers, k)
	c.impls = append(c.impls, floor)
	return c, err
}

// published is the benchmark as it was published, and as it was meant.
func (e *env) published() ([]cell, error) {
	const size = 5000
	one := strings.Repeat("*", 16)
	same, different := make([]string, size), make([]string, size)
	for i := range size {
		same[i], different[i] = one, member(i)
	}
	var cells []cell
	for _, v := range []struct {
		name    string
		strings []string
	}{{"published", same}, {"meant", different}} {
		set, text := prefix+"{c}set:"+v.name, prefix+"{c}json:"+v.name
		b, err := json.Marshal(v.strings)
		if err != nil {
			return nil, err
		}
		for _, resp := range e.rueidis.DoMulti(e.ctx,
			e.rueidis.B().Sadd().Key(set).Member(v.strings...).Build(),
			e.rueidis.B().Set().Key(text).Value(string(b)).Build(),
		) {
			if err := resp.Error(); err != nil {
				return nil, err
			}
		}
		members := v.strings
		if v.name == "published" {
			members = members[:1]
		}
		smembersCell := cell{name: "Hiredis/as=" + v.name + "/do=SMEMBERS", rounds: 10, time: 60 * time.Millisecond}
		jsonCell := cell{name: "Hiredis/as=" + v.name + "/do=GET+JSON", rounds: 10, time: 60 * time.Millisecond}
		smembersCell.want.add(members...)
		jsonCell.want.add(v.strings...)
		for _, p := range e.peers() {
			if im, ok := p.read(smembers, set); ok {
				smembersCell.impls = append(smembersCell.impls, im)
			}
			if p.json != nil {
				jsonCell.impls = append(jsonCell.impls, impl{name: p.name, op: func(s *sink) error { return p.json(s, text) }})
			}
		}
		for _, f := range e.foreign {
			smembersCell.impls = append(smembersCell.impls, f.read("members", set))
			jsonCell.impls = append(jsonCell.impls, f.read("json", text))
		}
		floor, err := e.floor(smembersCell.want, smembers, set)
		if err != nil {
			return nil, err
		}
		smembersCell.impls = append(smembersCell.impls, floor)
		cells = append(cells, smembersCell, jsonCell)
	}
	return cells, nil
}
