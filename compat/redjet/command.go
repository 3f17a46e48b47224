package redjet

import "strings"

// shape says in what the reply to a command differs between RESP2 and RESP3, beside the types of its elements.
type shape byte

const (
	plainShape    shape = iota
	oneString           // nothing but one string, a null or an error can come
	pairs               // RESP3 has arrays of two where RESP2 has two elements
	streamEntries       // RESP3 has a map where RESP2 has an array of arrays of two
)

// shapeOf takes the words of a command, the name in upper case.
func shapeOf(words []string) shape {
	switch words[0] {
	case "GET", "GETEX", "GETDEL", "GETRANGE", "GETSET", "SUBSTR", "HGET", "LINDEX", "DUMP", "ECHO":
		return oneString
	case "ZRANGE", "ZREVRANGE", "ZRANGEBYSCORE", "ZREVRANGEBYSCORE", "ZUNION", "ZINTER", "ZDIFF", "ZRANDMEMBER", "ZPOPMIN", "ZPOPMAX", "HRANDFIELD":
		return pairs
	case "XREAD", "XREADGROUP":
		return streamEntries
	}
	return plainShape
}

// firstKey returns which word is the first key, 0 for none.
func firstKey(words []string) int {
	key := 1
	switch words[0] {
	case "PING", "ECHO", "AUTH", "SELECT", "INFO", "TIME", "DBSIZE", "FLUSHALL", "FLUSHDB", "KEYS", "SCAN", "RANDOMKEY", "CONFIG", "CLIENT",
		"CLUSTER", "COMMAND", "SCRIPT", "FUNCTION", "SLOWLOG", "LATENCY", "ACL", "MODULE", "PUBLISH", "PUBSUB", "WAIT", "WAITAOF", "SAVE",
		"BGSAVE", "BGREWRITEAOF", "LASTSAVE", "SHUTDOWN", "REPLICAOF", "SLAVEOF", "ROLE", "SWAPDB", "MULTI", "EXEC", "DISCARD", "UNWATCH",
		"READONLY", "READWRITE", "ASKING", "LOLWUT", "FAILOVER", "SENTINEL":
		return 0
	case "OBJECT", "MEMORY", "DEBUG", "XINFO", "XGROUP", "BITOP", "ZUNION", "ZINTER", "ZDIFF", "ZINTERCARD", "SINTERCARD", "LMPOP", "ZMPOP":
		key = 2
	case "BLMPOP", "BZMPOP":
		key = 3
	case "MIGRATE":
		if key = 3; len(words) > 3 && words[3] == "" {
			return after(words, "KEYS")
		}
	case "EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO", "FCALL", "FCALL_RO":
		if key = 3; len(words) > 2 && words[2] == "0" {
			return 0
		}
	case "XREAD", "XREADGROUP":
		return after(words, "STREAMS")
	}
	if key >= len(words) {
		return 0
	}
	return key
}

// after returns the place behind the word, 0 if there is none.
func after(words []string, word string) int {
	for i, w := range words[:len(words)-1] {
		if strings.EqualFold(w, word) {
			return i + 1
		}
	}
	return 0
}

// isBlocking tells whether the server may wait before it replies, for as long as the command says.
func isBlocking(words []string) bool {
	switch words[0] {
	case "BLPOP", "BRPOP", "BRPOPLPUSH", "BLMOVE", "BLMPOP", "BZPOPMIN", "BZPOPMAX", "BZMPOP", "WAIT", "WAITAOF":
		return true
	case "XREAD", "XREADGROUP":
		return after(words, "BLOCK") > 0
	}
	return false
}

// isReadOnly tells whether a command writes nothing, so that it may be sent again when its connection turns out to be dead. It knows
// the ones that are read most; others are sent once.
func isReadOnly(name string) bool {
	switch name {
	case "GET", "MGET", "GETRANGE", "SUBSTR", "STRLEN", "LCS", "EXISTS", "TYPE", "TTL", "PTTL", "EXPIRETIME", "PEXPIRETIME", "DUMP",
		"HGET", "HMGET", "HGETALL", "HKEYS", "HVALS", "HLEN", "HEXISTS", "HSTRLEN", "HRANDFIELD", "HSCAN",
		"LRANGE", "LINDEX", "LLEN", "LPOS", "SMEMBERS", "SISMEMBER", "SMISMEMBER", "SCARD", "SRANDMEMBER", "SINTER", "SUNION", "SDIFF", "SINTERCARD", "SSCAN",
		"ZRANGE", "ZREVRANGE", "ZRANGEBYSCORE", "ZREVRANGEBYSCORE", "ZRANGEBYLEX", "ZREVRANGEBYLEX", "ZCARD", "ZCOUNT", "ZLEXCOUNT", "ZSCORE", "ZMSCORE",
		"ZRANK", "ZREVRANK", "ZUNION", "ZINTER", "ZDIFF", "ZINTERCARD", "ZRANDMEMBER", "ZSCAN",
		"XRANGE", "XREVRANGE", "XLEN", "XPENDING", "XREAD", "GETBIT", "BITCOUNT", "BITPOS", "BITFIELD_RO", "PFCOUNT",
		"GEOPOS", "GEODIST", "GEOHASH", "GEOSEARCH", "GEORADIUS_RO", "GEORADIUSBYMEMBER_RO", "SORT_RO", "KEYS", "SCAN", "DBSIZE", "RANDOMKEY",
		"EVAL_RO", "EVALSHA_RO", "FCALL_RO":
		return true
	}
	return false
}
