package rueidisbatch_test

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisbatch"
)

// Attr is what JuiceFS keeps of a file at the key i<inode>, in this order and in big endian: a byte of flags, the type (4 bits) and
// permissions (12 bits) in two bytes, uid, gid, the times of access, modification and change with their nanoseconds, nlink,
// length, rdev, and the parent's inode. Newer versions append to it.
type Attr struct {
	Mode   fs.FileMode
	UID    uint32
	GID    uint32
	Mtime  time.Time
	Nlink  uint32
	Length uint64
}

const attrLen = 1 + 2 + 4 + 4 + 3*12 + 4 + 8 + 4 + 8

// JuiceFS' types of files.
const (
	typeFile byte = iota + 1
	typeDirectory
	typeSymlink
)

// DecodeAttr decodes the attributes of a file.
func DecodeAttr(b []byte) (a Attr, err error) {
	if len(b) < attrLen {
		return a, errors.New("attributes are too short")
	}
	be := binary.BigEndian
	mode := be.Uint16(b[1:])
	a.Mode = fs.FileMode(mode) & fs.ModePerm
	switch byte(mode >> 12) {
	case typeDirectory:
		a.Mode |= fs.ModeDir
	case typeSymlink:
		a.Mode |= fs.ModeSymlink
	}
	a.UID, a.GID = be.Uint32(b[3:]), be.Uint32(b[7:])
	a.Mtime = time.Unix(int64(be.Uint64(b[23:])), int64(be.Uint32(b[31:]))).UTC()
	a.Nlink, a.Length = be.Uint32(b[47:]), be.Uint64(b[51:])
	return a, nil
}

// DecodeEntry decodes the value of an entry: a byte of type, and the inode.
func DecodeEntry(b []byte) (typ byte, inode uint64, err error) {
	if len(b) != 9 {
		return 0, 0, errors.New("an entry has 9 bytes")
	}
	return b[0], binary.BigEndian.Uint64(b[1:]), nil
}

// inodeKey makes the key of an entry's attributes.
func inodeKey(dst []byte, e rueidisbatch.Dirent) []byte {
	_, inode, err := DecodeEntry(e.Value)
	if err != nil {
		return dst
	}
	return strconv.AppendUint(append(dst, 'i'), inode, 10)
}

// List prints the directory of an inode as ls -l does.
func List(ctx context.Context, client rueidis.Client, inode uint64) error {
	type line struct{ name, text string }
	var lines []line
	for e, err := range rueidisbatch.Readdir(ctx, client, "d"+strconv.FormatUint(inode, 10), inodeKey) {
		if err != nil {
			return err
		}
		name := string(e.Name) // e is valid only in this round
		if e.Attr == nil {
			lines = append(lines, line{name, "?????????? ? ? ? ? ? " + name}) // removed meanwhile
			continue
		}
		a, err := DecodeAttr(e.Attr)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		lines = append(lines, line{name, fmt.Sprintf("%s %d %d %d %6d %s %s",
			a.Mode, a.Nlink, a.UID, a.GID, a.Length, a.Mtime.Format("Jan _2 15:04"), name)})
	}
	slices.SortFunc(lines, func(a, b line) int { return cmp.Compare(a.name, b.name) })
	for _, l := range lines {
		fmt.Fprintln(os.Stdout, l.text)
	}
	return nil
}

// A directory of a file system in JuiceFS' layout is listed with its attributes.
func Example_juicefs() {
	client, done := juiceFS()
	defer done()
	if err := List(context.Background(), client, 1); err != nil {
		fmt.Println(err)
	}
	// Output:
	// -rw-r--r-- 1 1000 1000   2048 Mar  1 12:00 README
	// ?????????? ? ? ? ? ? gone
	// drwxr-xr-x 2 0 0   4096 Mar  1 12:00 src
}

// juiceFS is a client of a server that holds one directory.
func juiceFS() (client rueidis.Client, done func()) {
	attr := func(mode uint16, uid, nlink uint32, length uint64) string {
		be := binary.BigEndian
		b := be.AppendUint16([]byte{0}, mode)
		b = be.AppendUint32(be.AppendUint32(b, uid), uid)
		for range 3 { // the times
			b = be.AppendUint32(be.AppendUint64(b, uint64(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Unix())), 0)
		}
		b = be.AppendUint64(be.AppendUint32(b, nlink), length)
		return redistest.Bulk(string(be.AppendUint64(be.AppendUint32(b, 0), 1)))
	}
	entry := func(typ byte, inode uint64) string { return string(binary.BigEndian.AppendUint64([]byte{typ}, inode)) }
	attrs := map[string]string{
		"i2": attr(uint16(typeFile)<<12|0o644, 1000, 1, 2048),
		"i3": attr(uint16(typeDirectory)<<12|0o755, 0, 2, 4096),
	}
	srv := redistest.NewFake(exampleTB{}, func(c *redistest.FakeConn, cmd []string) {
		switch strings.ToUpper(cmd[0]) {
		case "HSCAN":
			c.Write(redistest.Array(redistest.Bulk("0"), redistest.Array(redistest.Bulks(
				"src", entry(typeDirectory, 3), "README", entry(typeFile, 2), "gone", entry(typeFile, 4))...)))
		case "MGET":
			var vals []string
			for _, key := range cmd[1:] {
				vals = append(vals, cmp.Or(attrs[key], "$-1\r\n"))
			}
			c.Write(redistest.Array(vals...))
		default:
			c.Write("-ERR unknown command\r\n")
		}
	})
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{srv.Addr()}, ForceSingleClient: true, DisableCache: true})
	if err != nil {
		panic(err)
	}
	return client, func() { client.Close(); srv.Close() }
}

func TestDecodeAttr(t *testing.T) {
	if _, err := DecodeAttr(make([]byte, attrLen-1)); err == nil {
		t.Fatal("too short")
	}
	if _, _, err := DecodeEntry(nil); err == nil {
		t.Fatal("too short")
	}
}
