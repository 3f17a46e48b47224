package main

import (
	"encoding/binary"
	"strconv"
)

// entry is what a listing gives for each file, as JuiceFS has it.
type entry struct {
	inode uint64
	kind  byte
	name  string
	attr  inode
}

// inode is a file's attributes.
type inode struct {
	flags                           byte
	mode                            uint16
	uid, gid                        uint32
	atime, mtime, ctime             int64
	atimensec, mtimensec, ctimensec uint32
	nlink                           uint32
	length                          uint64
	rdev                            uint32
	parent                          uint64
}

// append writes a as JuiceFS does.
func (a *inode) append(b []byte) []byte {
	be := binary.BigEndian
	b = append(b, a.flags)
	b = be.AppendUint16(b, a.mode)
	b = be.AppendUint32(be.AppendUint32(b, a.uid), a.gid)
	b = be.AppendUint32(be.AppendUint64(b, uint64(a.atime)), a.atimensec)
	b = be.AppendUint32(be.AppendUint64(b, uint64(a.mtime)), a.mtimensec)
	b = be.AppendUint32(be.AppendUint64(b, uint64(a.ctime)), a.ctimensec)
	b = be.AppendUint32(b, a.nlink)
	b = be.AppendUint64(b, a.length)
	b = be.AppendUint32(b, a.rdev)
	return be.AppendUint64(b, a.parent)
}

const inodeSize = 71

// parse reads what append has written, and tells whether it can be that.
func (a *inode) parse(b []byte) bool {
	if len(b) != inodeSize {
		return false
	}
	be := binary.BigEndian
	a.flags, a.mode = b[0], be.Uint16(b[1:])
	a.uid, a.gid = be.Uint32(b[3:]), be.Uint32(b[7:])
	a.atime, a.atimensec = int64(be.Uint64(b[11:])), be.Uint32(b[19:])
	a.mtime, a.mtimensec = int64(be.Uint64(b[23:])), be.Uint32(b[31:])
	a.ctime, a.ctimensec = int64(be.Uint64(b[35:])), be.Uint32(b[43:])
	a.nlink, a.length = be.Uint32(b[47:]), be.Uint64(b[51:])
	a.rdev, a.parent = be.Uint32(b[59:]), be.Uint64(b[63:])
	return true
}

// inodeOf is the attributes of a file.
func inodeOf(number uint64) inode {
	t := int64(1_700_000_000 + number)
	return inode{mode: 0o100644, uid: 1000, gid: 1000, atime: t, mtime: t, ctime: t, nlink: 1, length: number * 4096, parent: 1}
}

// dirValue is the value of a directory's field: the kind of the file and its inode.
func dirValue(number uint64) []byte { return binary.BigEndian.AppendUint64([]byte{1}, number) }

// fileName is the name of a file.
func fileName(number uint64) string { return "file-" + strconv.FormatUint(number, 10) + ".bin" }

// attrKey appends the key of a file's attributes.
func attrKey(dst []byte, number uint64) []byte {
	return strconv.AppendUint(append(dst, prefix+"{c}i"...), number, 10)
}

// parseDirValue takes the value of a directory's field apart.
func parseDirValue[T string | []byte](b T) (kind byte, number uint64) {
	if len(b) != 9 {
		return 0, 0
	}
	for i := 1; i < 9; i++ {
		number = number<<8 | uint64(b[i])
	}
	return b[0], number
}

// seeEntry brings an entry to the sink.
func (s *sink) seeEntry(e *entry) {
	s.elements++
	s.bytes += int64(len(e.name)) + int64(e.attr.nlink) // of a file that has attributes, one
	if s.check {
		s.hash(e.attr.append(append([]byte(e.name), dirValue(e.inode)...)))
	}
}

// seeParts is seeEntry for an entry without its name.
func (s *sink) seeParts(name []byte, e *entry) {
	s.elements++
	s.bytes += int64(len(name)) + int64(e.attr.nlink)
	if s.check {
		s.hash(e.attr.append(append(append([]byte(nil), name...), dirValue(e.inode)...)))
	}
}
