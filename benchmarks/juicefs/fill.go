// Package juicefs writes directories in the layout of JuiceFS' metadata engine for Redis, for benchmarks: the hash d<inode> of names,
// with the type and inode of each entry, and the attributes of each entry at i<inode>.
package juicefs

import (
	"context"
	"encoding/binary"
	"strconv"

	"github.com/redis/rueidis"
)

const (
	entriesAtOnce  = 500 // in one HSET and one MSET
	commandsAtOnce = 40  // in a pipeline
	// AttrLen is how many bytes the attributes of an entry have.
	AttrLen = 71
	regular = 1 // JuiceFS' type of a plain file
)

// Dir returns the key of the directory.
func Dir(inode uint64) string { return "d" + strconv.FormatUint(inode, 10) }

// Child returns the inode of the i-th entry of a directory: another one for each entry and, up to 2^32 entries, directory.
func Child(inode uint64, i int) uint64 { return inode<<32 + uint64(i) }

// AttrKey returns the key of the attributes of an inode.
func AttrKey(inode uint64) string { return "i" + strconv.FormatUint(inode, 10) }

// Name returns the name of the i-th entry.
func Name(i int) string { return "file-" + strconv.Itoa(i) }

// Fill writes the directory of that inode, with so many entries and their attributes, in pipelines of large commands: a million
// entries in some seconds. What the directory held before stays. The client must not be one of a cluster, since an MSET is of many
// slots.
func Fill(ctx context.Context, client rueidis.Client, inode uint64, entries int) error {
	return FillPart(ctx, client, inode, entries, entries)
}

// FillPart is Fill with attributes for the first entries only.
func FillPart(ctx context.Context, client rueidis.Client, inode uint64, entries, attrs int) error {
	var cmds rueidis.Commands
	flush := func() error {
		for _, res := range client.DoMulti(ctx, cmds...) {
			if err := res.Error(); err != nil {
				return err
			}
		}
		cmds = cmds[:0]
		return nil
	}
	value := make([]byte, 9)
	value[0] = regular
	for from := 0; from < entries; from += entriesAtOnce {
		hset := client.B().Hset().Key(Dir(inode)).FieldValue()
		mset := client.B().Mset().KeyValue()
		for i := from; i < min(from+entriesAtOnce, entries); i++ {
			child := Child(inode, i)
			binary.BigEndian.PutUint64(value[1:], child)
			hset = hset.FieldValue(Name(i), string(value))
			if i < attrs {
				mset = mset.KeyValue(AttrKey(child), string(attr(inode, i)))
			}
		}
		cmds = append(cmds, hset.Build())
		if from < attrs {
			cmds = append(cmds, mset.Build())
		}
		if len(cmds) >= commandsAtOnce {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if len(cmds) == 0 {
		return nil
	}
	return flush()
}

// attr returns attributes as JuiceFS encodes them: flags, type and mode, uid, gid, three times with nanoseconds, nlink, length,
// rdev, parent.
func attr(parent uint64, i int) []byte {
	const written = 1767225600 // the beginning of 2026
	be := binary.BigEndian
	b := make([]byte, 0, AttrLen)
	b = append(b, 0)
	b = be.AppendUint16(b, regular<<12|0o644)
	b = be.AppendUint32(b, 1000)
	b = be.AppendUint32(b, 1000)
	for range 3 {
		b = be.AppendUint64(b, written+uint64(i))
		b = be.AppendUint32(b, 0)
	}
	b = be.AppendUint32(b, 1)
	b = be.AppendUint64(b, uint64(i))
	b = be.AppendUint32(b, 0)
	return be.AppendUint64(b, parent)
}
