package main

import (
	"fmt"
	"slices"
	"sync"

	goredis "github.com/redis/go-redis/v9"
)

// batch is how many keys JuiceFS asks for at once, and readers how many goroutines do.
const (
	batch   = 4096
	readers = 2
)

// listers are the ways that JuiceFS has come along, the last one being where it is.
func (e *env) listers() []lister {
	return []lister{
		// One HGETALL, one MGET.
		{"giant", func(s *sink, dir string, first func()) error {
			entries, err := e.names(dir)
			if err == nil {
				err = e.attrs(entries)
			}
			return done(s, entries, err, first)
		}},
		// One HGETALL, then MGETs of 4,096 one after the other.
		{"series", func(s *sink, dir string, first func()) error {
			entries, err := e.names(dir)
			for part := range slices.Chunk(entries, batch) {
				if err == nil {
					err = e.attrs(part)
				}
			}
			return done(s, entries, err, first)
		}},
		// The same on two goroutines.
		{"parallel", func(s *sink, dir string, first func()) error {
			entries, err := e.names(dir)
			if err == nil {
				err = onTwo(entries, e.attrs)
			}
			return done(s, entries, err, first)
		}},
		// HSCAN by pages of 10,000, then MGETs of 4,096 on two goroutines, by go-redis; one MGET where that is enough.
		{"juicefs", func(s *sink, dir string, first func()) error {
			entries, err := e.scanned(dir)
			switch {
			case err != nil:
			case len(entries) <= batch:
				err = e.goredisAttrs(entries)
			default:
				err = onTwo(entries, e.goredisAttrs)
			}
			return done(s, entries, err, first)
		}},
	}
}

// done is where a caller that waited for all entries gets them.
func done(s *sink, entries []*entry, err error, first func()) error {
	first()
	for _, en := range entries {
		s.seeEntry(en)
	}
	return err
}

// names reads a directory by one HGETALL.
func (e *env) names(dir string) ([]*entry, error) {
	m, err := e.rueidis.Do(e.ctx, e.rueidis.B().Hgetall().Key(dir).Build()).AsStrMap()
	room := make([]entry, len(m))
	entries := make([]*entry, 0, len(m))
	for name, value := range m {
		en := &room[len(entries)]
		en.name = name
		en.kind, en.inode = parseDirValue(value)
		entries = append(entries, en)
	}
	return entries, err
}

// attrs gets the attributes of entries by one MGET.
func (e *env) attrs(entries []*entry) error {
	keys := make([]string, len(entries))
	for i, en := range entries {
		keys[i] = string(attrKey(nil, en.inode))
	}
	values, err := e.rueidis.Do(e.ctx, e.rueidis.B().Mget().Key(keys...).Build()).ToArray()
	if err != nil {
		return err
	}
	for i := range values {
		b, err := values[i].AsBytes()
		if err != nil || !entries[i].attr.parse(b) {
			return fmt.Errorf("attributes of %s: %q, %w", entries[i].name, b, err)
		}
	}
	return nil
}

// scanned reads a directory as JuiceFS does: each page's entries lie in one piece of memory.
func (e *env) scanned(dir string) (entries []*entry, err error) {
	var cursor uint64
	for {
		var page []string
		page, cursor, err = e.goredis.HScan(e.ctx, dir, cursor, "*", 10_000).Result()
		if err != nil {
			return nil, err
		}
		room := make([]entry, len(page)/2)
		for i := range room {
			en := &room[i]
			en.name = page[2*i]
			en.kind, en.inode = parseDirValue(page[2*i+1])
			entries = append(entries, en)
		}
		if cursor == 0 {
			return entries, nil
		}
	}
}

func (e *env) goredisAttrs(entries []*entry) error {
	keys := make([]string, len(entries))
	for i, en := range entries {
		keys[i] = string(attrKey(nil, en.inode))
	}
	values, err := e.goredis.MGet(e.ctx, keys...).Result()
	if err != nil && err != goredis.Nil {
		return err
	}
	for i, v := range values {
		text, _ := v.(string)
		if !entries[i].attr.parse([]byte(text)) {
			return fmt.Errorf("attributes of %s: %q", entries[i].name, text)
		}
	}
	return nil
}

// onTwo gives the parts of entries to two goroutines.
func onTwo(entries []*entry, attrs func(entries []*entry) error) error {
	parts := make(chan []*entry, 10)
	errs := make(chan error, readers)
	var all sync.WaitGroup
	for range readers {
		all.Go(func() {
			for part := range parts {
				if err := attrs(part); err != nil {
					errs <- err
					for range parts { // the sender shall not wait
					}
					return
				}
			}
		})
	}
	for part := range slices.Chunk(entries, batch) {
		parts <- part
	}
	close(parts)
	all.Wait()
	close(errs)
	return <-errs
}
