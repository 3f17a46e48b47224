package goredis

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/rueidisstream"
)

// MembersIterator iterates over a set by one SMEMBERS, streamed, so that it gives what the set held at one moment, each member once;
// a small set comes in one round trip. Options are those of rueidisstream.Members, such as rueidisstream.WithScan. Nothing is sent
// before the first Next.
func (a *Adapter) MembersIterator(ctx context.Context, key string, opts ...rueidisstream.Option) *ScanIterator {
	return newStream(ctx, ofValues(ctx, rueidisstream.Members(ctx, a.client, key, opts...)))
}

// FieldsIterator iterates over a hash by one HGETALL, as MembersIterator does over a set: a field, its value, the next field.
func (a *Adapter) FieldsIterator(ctx context.Context, key string, opts ...rueidisstream.Option) *ScanIterator {
	return newStream(ctx, ofPairs(ctx, rueidisstream.Fields(ctx, a.client, key, opts...)))
}

// ScoresIterator iterates over a sorted set from the lowest score up, by one ZRANGE, as MembersIterator does over a set: a member,
// its score as text, the next member.
func (a *Adapter) ScoresIterator(ctx context.Context, key string, opts ...rueidisstream.Option) *ScanIterator {
	return newStream(ctx, ofPairs(ctx, rueidisstream.Scores(ctx, a.client, key, opts...)))
}

// ElementsIterator iterates over a list from head to tail by one LRANGE, as MembersIterator does over a set.
func (a *Adapter) ElementsIterator(ctx context.Context, key string, opts ...rueidisstream.Option) *ScanIterator {
	return newStream(ctx, ofValues(ctx, rueidisstream.Elements(ctx, a.client, key, opts...)))
}

// KeysIterator iterates over the keys that match pattern, each once, by pages of SCAN; on a cluster over those of all primaries. See
// rueidisstream.Keys.
func (a *Adapter) KeysIterator(ctx context.Context, pattern string, opts ...rueidisstream.Option) *ScanIterator {
	return newStream(ctx, ofValues(ctx, rueidisstream.Keys(ctx, a.client, pattern, opts...)))
}

// ScanIterator is Scan(ctx, cursor, match, count).Iterator() of go-redis: it iterates over the keys by pages of SCAN from the cursor
// on. The first page is asked for at once. What SCAN repeats comes again; KeysIterator gives each key once.
//
// On a cluster it scans one primary after the other, where go-redis and rueidiscompat ask any node for each page; the cursor must
// be 0 there.
func (a *Adapter) ScanIterator(ctx context.Context, cursor uint64, match string, count int64) *ScanIterator {
	return a.scanKeys(ctx, cursor, match, count, "")
}

// ScanTypeIterator is ScanIterator for the keys of one type, such as "set"; an empty type is any.
func (a *Adapter) ScanTypeIterator(ctx context.Context, cursor uint64, match string, count int64, keyType string) *ScanIterator {
	return a.scanKeys(ctx, cursor, match, count, keyType)
}

// SScanIterator is SScan(ctx, key, cursor, match, count).Iterator() of go-redis: it iterates over the members of a set by pages of
// SSCAN from the cursor on. The first page is asked for at once. What SSCAN repeats comes again; MembersIterator gives each
// member once. All pages come from the primary, whatever ClientOption.SendToReplicas says, since a cursor means nothing to
// another node.
func (a *Adapter) SScanIterator(ctx context.Context, key string, cursor uint64, match string, count int64) *ScanIterator {
	return a.scanKey(ctx, "SSCAN", key, cursor, match, count)
}

// HScanIterator is SScanIterator for a hash: a field, its value, the next field.
func (a *Adapter) HScanIterator(ctx context.Context, key string, cursor uint64, match string, count int64) *ScanIterator {
	return a.scanKey(ctx, "HSCAN", key, cursor, match, count)
}

// HScanNoValuesIterator is HScanIterator without the values, for which the server must be Redis 7.4 or later.
func (a *Adapter) HScanNoValuesIterator(ctx context.Context, key string, cursor uint64, match string, count int64) *ScanIterator {
	return a.scanKey(ctx, "HSCAN", key, cursor, match, count, "NOVALUES")
}

// ZScanIterator is SScanIterator for a sorted set: a member, its score as text, the next member.
func (a *Adapter) ZScanIterator(ctx context.Context, key string, cursor uint64, match string, count int64) *ScanIterator {
	return a.scanKey(ctx, "ZSCAN", key, cursor, match, count)
}

// scanKey goes through one key. Without the mark that it only reads, the command goes to the primary.
func (a *Adapter) scanKey(ctx context.Context, name, key string, cursor uint64, match string, count int64, more ...string) *ScanIterator {
	return newPages(ctx, func(ctx context.Context) ([]string, bool, error) {
		cmd := a.client.B().Arbitrary(name).Keys(key).Args(strconv.FormatUint(cursor, 10)).Args(scanArgs(match, count)...).Args(more...)
		e, err := a.client.Do(ctx, cmd.Build().ToRetryable()).AsScanEntry()
		cursor = e.Cursor
		return e.Elements, cursor != 0, err
	})
}

var errCursor = errors.New("compat/goredis: a cursor is of one node; on a cluster a scan begins at 0")

// scanKeys goes through the keys of the server, or of all primaries.
func (a *Adapter) scanKeys(ctx context.Context, cursor uint64, match string, count int64, keyType string) *ScanIterator {
	nodes, err := []rueidis.Client{a.client}, error(nil)
	if a.cluster {
		if nodes, err = primaries(ctx, a.client); err == nil && cursor != 0 {
			err = errCursor
		}
	}
	return newPages(ctx, func(ctx context.Context) ([]string, bool, error) {
		if err != nil || len(nodes) == 0 {
			return nil, false, err
		}
		cmd := nodes[0].B().Arbitrary("SCAN", strconv.FormatUint(cursor, 10)).Args(scanArgs(match, count)...)
		if keyType != "" {
			cmd = cmd.Args("TYPE", keyType)
		}
		e, err := nodes[0].Do(ctx, cmd.Build().ToRetryable()).AsScanEntry()
		if cursor = e.Cursor; cursor == 0 {
			nodes = nodes[1:]
		}
		return e.Elements, len(nodes) > 0, err
	})
}

func scanArgs(match string, count int64) (args []string) {
	if match != "" {
		args = append(args, "MATCH", match)
	}
	if count > 0 {
		args = append(args, "COUNT", strconv.FormatInt(count, 10))
	}
	return args
}

// primaries returns the nodes of a cluster that say they are primaries, as rueidiscompat finds them.
func primaries(ctx context.Context, client rueidis.Client) (found []rueidis.Client, err error) {
	all := client.Nodes()
	addrs := make([]string, 0, len(all))
	for addr := range all {
		addrs = append(addrs, addr)
	}
	slices.Sort(addrs)
	for _, addr := range addrs {
		role, err := all[addr].Do(ctx, all[addr].B().Role().Build()).ToArray()
		if err != nil {
			return nil, err
		}
		if len(role) == 0 {
			continue
		}
		if name, _ := role[0].ToString(); name == "master" {
			found = append(found, all[addr])
		}
	}
	return found, nil
}
