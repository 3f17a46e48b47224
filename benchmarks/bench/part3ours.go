package main

import (
	"fmt"

	"github.com/rueidisx/rueidisx/rueidisbatch"
)

// ourListers are rueidisbatch's: names by pages, and names of one moment. Like the others they give entries with parsed
// attributes, but one at a time.
func (e *env) ourListers() []lister {
	return []lister{
		{"pages", e.readdir()},
		{"snapshot", e.readdir(rueidisbatch.WithSnapshot())},
		{"pages-kept", e.kept()},
	}
}

func attrKeyOf(dst []byte, d rueidisbatch.Dirent) []byte {
	_, number := parseDirValue(d.Value)
	return attrKey(dst, number)
}

// readdir uses each entry where it comes.
func (e *env) readdir(opts ...rueidisbatch.Option) func(s *sink, dir string, first func()) error {
	return func(s *sink, dir string, first func()) error {
		var en entry
		for d, err := range rueidisbatch.Readdir(e.ctx, e.rueidis, dir, attrKeyOf, opts...) {
			if err != nil {
				return err
			}
			if err := en.set(d); err != nil {
				return err
			}
			first()
			s.seeParts(d.Name, &en)
		}
		return nil
	}
}

// kept makes the list of all entries that JuiceFS returns, of what comes by pages.
func (e *env) kept() func(s *sink, dir string, first func()) error {
	return func(s *sink, dir string, first func()) error {
		var entries []*entry
		var room []entry
		for d, err := range rueidisbatch.Readdir(e.ctx, e.rueidis, dir, attrKeyOf) {
			if err != nil {
				return err
			}
			if len(room) == 0 {
				room = make([]entry, min(max(64, len(entries)), batch))
			}
			en := &room[0]
			room = room[1:]
			if err := en.set(d); err != nil {
				return err
			}
			en.name = string(d.Name)
			entries = append(entries, en)
		}
		return done(s, entries, nil, first)
	}
}

// set takes value and attributes of d.
func (en *entry) set(d rueidisbatch.Dirent) error {
	en.kind, en.inode = parseDirValue(d.Value)
	if !en.attr.parse(d.Attr) {
		return fmt.Errorf("attributes of %q: %q", d.Name, d.Attr)
	}
	return nil
}
