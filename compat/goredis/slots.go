package goredis

import (
	"strings"

	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/internal/wire"
)

const slots = 1 << 14

// inCluster tells whether the client is of a cluster, whose commands have slots. It sends nothing.
func inCluster(client rueidis.Client) bool {
	cmd := client.B().Get().Key("").Build()
	return cmd.Slot() < slots
}

// slotOf returns the slot of a key, by the cluster specification: CRC16 of what is between the first { and the first } behind
// it, or of all if nothing is.
func slotOf(key string) uint16 {
	if open := strings.IndexByte(key, '{'); open >= 0 {
		if n := strings.IndexByte(key[open+1:], '}'); n > 0 {
			key = key[open+1 : open+1+n]
		}
	}
	var crc uint16
	for i := range len(key) {
		crc ^= uint16(key[i]) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return crc % slots
}

// oneSlot tells whether the keys can be in one command.
func (a *Adapter) oneSlot(keys []string) bool {
	if !a.cluster || len(keys) < 2 {
		return true
	}
	slot := slotOf(keys[0])
	for _, key := range keys[1:] {
		if slotOf(key) != slot {
			return false
		}
	}
	return true
}

// group is the keys of one slot and where they stand among all keys.
type group struct {
	keys  []string
	index []int
}

// bySlot returns the keys by slots, in the order in which the slots come first.
func bySlot(keys []string) []group {
	var groups []group
	of := make(map[uint16]int)
	for i, key := range keys {
		slot := slotOf(key)
		g, ok := of[slot]
		if !ok {
			g = len(groups)
			of[slot] = g
			groups = append(groups, group{})
		}
		groups[g].keys = append(groups[g].keys, key)
		groups[g].index = append(groups[g].index, i)
	}
	return groups
}

// errCrossSlot is the answer of a cluster to a command with keys in several slots, for which rueidis panics.
func errCrossSlot() error {
	return wire.RedisError("CROSSSLOT Keys in request don't hash to the same slot")
}
