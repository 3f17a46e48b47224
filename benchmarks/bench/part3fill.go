package main

import (
	"fmt"
	"hash/crc32"

	"github.com/redis/rueidis"
)

// dirKey is the key of a directory of so many files.
func dirKey(files int) string { return fmt.Sprintf("%s{c}d%d", prefix, files) }

// fillDir makes a directory. Its files are those of smaller directories, and some more: have is how many have attributes.
func (e *env) fillDir(files, have int) (w want, err error) {
	const chunk, pipeline = 500, 20
	var cmds []rueidis.Completed
	flush := func(least int) error {
		if len(cmds) < least {
			return nil
		}
		for _, resp := range e.rueidis.DoMulti(e.ctx, cmds...) {
			if err := resp.Error(); err != nil {
				return err
			}
		}
		cmds = cmds[:0]
		return nil
	}
	var line []byte
	for i := 0; i < files; {
		names := e.rueidis.B().Arbitrary("HSET").Keys(dirKey(files))
		attrs, more := e.rueidis.B().Arbitrary("MSET"), false
		for range min(chunk, files-i) {
			n := uint64(i + 1)
			a := inodeOf(n)
			attr := string(a.append(nil))
			names = names.Args(fileName(n), string(dirValue(n)))
			if i >= have {
				attrs, more = attrs.Keys(string(attrKey(nil, n))).Args(attr), true
			}
			w.elements++
			w.bytes += int64(len(fileName(n))) + 1
			line = append(append(append(line[:0], fileName(n)...), dirValue(n)...), attr...)
			w.sum += uint64(crc32.ChecksumIEEE(line))
			i++
		}
		cmds = append(cmds, names.Build())
		if more {
			cmds = append(cmds, attrs.Build())
		}
		if err := flush(pipeline); err != nil {
			return w, err
		}
	}
	return w, flush(1)
}
