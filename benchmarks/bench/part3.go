package main

import (
	"fmt"
	"slices"
)

// lister lists a directory with the attributes of all its files.
type lister struct {
	name string
	list func(s *sink, dir string, first func()) error
}

// readdir is part 3.
func readdir(e *env, r *run) error {
	sizes := []struct{ files, times, rounds int }{{100, 300, 10}, {4000, 20, 10}, {200_000, 1, 6}, {300_000, 1, 4}, {5_000_000, 1, 1}}
	if e.opt.quick {
		sizes = sizes[:2]
		sizes = append(sizes, struct{ files, times, rounds int }{20_000, 1, 1})
	}
	nearby, err := newBystander(e)
	if err != nil {
		return err
	}
	listers := map[string]lister{}
	var names []string
	for _, l := range append(e.listers(), e.ourListers()...) {
		listers[l.name] = l
		names = append(names, l.name)
	}
	have := 0
	for _, size := range sizes {
		if !r.wants(fmt.Sprintf("Readdir/files=%d", size.files)) {
			continue
		}
		r.bar.Describe(fmt.Sprintf("   filling a directory of %d files", size.files))
		w, err := e.fillDir(size.files, have)
		if err != nil {
			return fmt.Errorf("filling a directory: %w", err)
		}
		have = size.files
		times, names, nearby := size.times, names, nearby
		if size.files <= batch {
			names = append(slices.Clone(names), "floor")
			floor, err := e.floorLister(dirKey(size.files), w)
			if err != nil {
				return err
			}
			listers["floor"] = lister{"floor", func(s *sink, _ string, first func()) error { return floor(s, first) }}
			nearby = nil // a thousand PINGs a second would be a part of what is measured
		}
		if e.opt.quick {
			times = 1
		}
		if size.rounds == 1 && !e.opt.quick {
			names = []string{"giant", "juicefs", "pages", "snapshot"} // the others take minutes, and are between these
		}
		if err := r.samples(e, fmt.Sprintf("Readdir/files=%d", size.files), size.rounds, names, func(name string) sample {
			return sample{times: times, want: w, server: true, nearby: nearby, op: func(s *sink, first func()) error {
				return listers[name].list(s, dirKey(size.files), first)
			}}
		}); err != nil {
			return err
		}
	}
	return nil
}
