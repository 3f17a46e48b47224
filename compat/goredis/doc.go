// Package goredis is the API that users of go-redis know, over a rueidis client, as rueidiscompat has it, with replies that may be
// big read as a stream: the calls stay, and big sets, hashes, lists, sorted sets and streams cost less.
//
//	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{"127.0.0.1:6379"}})
//	if err != nil { ... }
//	rdb := goredis.NewAdapter(client) // was: rueidiscompat.NewAdapter(client)
//	members, err := rdb.SMembers(ctx, "tags").Result()
//
// An [Adapter] is a complete rueidiscompat.Cmdable. Result types, arguments and helper types (rueidiscompat.Z, ZRangeBy, Sort ...)
// are rueidiscompat's, which a program goes on importing for them.
//
// # What is streamed
//
// SMembers, SMembersMap, SInter, SUnion, SDiff, HGetAll, HKeys, HVals, LRange, the ZRange and ZRevRange families, ZInter, ZUnion,
// ZDiff, XRange, XRangeN, XRevRange, XRevRangeN, Sort, SortRO, SortInterfaces, Keys and MGet. The command that goes to the server is
// the very one that rueidiscompat sends, and it goes to the same place, a replica included; what comes back is the same
// Go value, nil or empty as there, and the same error. All other methods are rueidiscompat's own, as are Pipeline, Pipelined,
// TxPipeline, TxPipelined, Watch, Cache, Subscribe and what they hand out.
//
// A stream has a connection to itself, out of the client's pool for streams and blocking commands (ClientOption.BlockingPoolSize),
// and takes about four allocations for a slice of strings whatever its length, where rueidiscompat takes one for each string. A
// map, and values of type any, have some of their own.
//
// # Small replies
//
// A small reply costs less over the connection that all callers share. So a command whose reply cannot be big (LRange 0 9, ZRange with
// a limit, XRangeN, MGet of few keys) is rueidiscompat's own call, and for others the adapter remembers whether the last
// reply to that command and key was big. The first call of a command is streamed; from then on keys that it does not know
// are taken for what such keys were lately. The memory is a table of 16 KiB that forgets, and it changes what a call costs, never
// what it returns. Keep one adapter for a client: a new one has nothing to remember. Adapter.WithStreamFrom sets what is big.
//
// # Memory
//
// The strings of a big reply are cut out of a few blocks, of 1 MiB at most, and each keeps its block alive. Who keeps one
// member of a million keeps up to 1 MiB with it: strings.Clone it. A string of 32 KiB or more has memory of its own.
//
// # Keys in several slots of a cluster
//
// rueidiscompat panics for them. Here MGet, Del, Unlink, Exists and Touch send one command for each slot, once, and put the results
// together: MGet in the order of the keys, the others as a sum. They are not atomic then. If some slots fail, MGet has the
// error alone; Del and its kind have the first error, and as value what the others did. SInter, SUnion, SDiff, ZInter, ZUnion and
// ZDiff return the error CROSSSLOT that the server has for it. What is not named here is as in rueidiscompat, the panic too.
//
// # Errors
//
// Those of the server and rueidis.Nil come as they are, never wrapped. When the context is done its own error comes. If no stream can be
// had, because the client is a mock, or no connection can be made, the call is rueidiscompat's, and so is its error. Only a connection
// that is lost in the middle of a stream has an error that rueidiscompat does not have: it is wrapped, says how far the
// reply came, and is io.ErrUnexpectedEOF where the connection ended.
//
// # Beyond rueidiscompat
//
// From current go-redis (v9.23): Adapter.DoRaw and Adapter.DoRawWriteTo with their names, arguments and errors, and
// iterators: SScan(ctx, key, 0, "", 100).Iterator() of go-redis is SScanIterator(ctx, key, 0, "", 100) here, since rueidiscompat's
// ScanCmd cannot be given a method. GetToBuffer and SetFromBuffer, which rueidiscompat has, are made safe. Our own are MembersIterator and
// its kind, which stream one command; ScanIterator.All, a range-over-func loop; GetReader and SetFromReader, for values
// that need not fit into memory.
//
// # Where it differs from rueidiscompat
//
//   - GetToBuffer of a value that is too long: the error is a *BufferTooSmallError with go-redis' text, which is io.ErrShortBuffer for
//     errors.Is; Val is 0 and the buffer as it was, as in go-redis. rueidiscompat v1.0.79 fills the buffer, says its length, and
//     then waits for bytes that do not come, or leaves the connection out of step.
//   - SetFromBuffer copies the buffer, which may be changed when it returns, as in go-redis.
//   - Keys in several slots, as above.
//   - ForEachMaster hands out Adapters.
//
// # Where rueidiscompat differs from go-redis
//
// There rueidiscompat's way is kept: errors are *rueidis.RedisError, and Nil is rueidis.Nil; the text of an error comes without "ERR ";
// Z.Member is a string; arguments such as Sort and ZRangeBy come by value; XRange and its kind have an empty slice beside an error; Keys
// asks all primaries, also for a pattern with a hash tag; result types have no Args and no String.
package goredis
