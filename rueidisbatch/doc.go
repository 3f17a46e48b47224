// Package rueidisbatch reads many keys of Redis at once: [MGet], [MGetFunc] and [MGetSeq] read strings by as many MGETs as their
// number takes, some at a time, and [Readdir] lists a directory, which is a hash, with the attributes of its entries, which
// are strings. It works with any rueidis.Client that an application already holds.
//
//	vals, err := rueidisbatch.MGet(ctx, client, keys)
//
// Arguments come as ctx, client, keys, options, which is Go's order; rueidis' own helpers take the client first.
//
// # Small and large
//
// Few keys (WithSmall) are one MGET over the connection that all callers of the client share, and no goroutine is started. More
// of them are divided into chunks (WithChunk). Each is an MGET of its own on a connection of its own, out of the client's
// pool for blocking commands and streams (ClientOption.BlockingPoolSize), and its reply is read while it arrives
// by package rueidisstream. So other users of the server wait for a chunk at most, and other callers of the client do not
// wait behind large replies. A few chunks are on their way at a time (WithParallelism).
//
// # Order and missing keys
//
// Results are by position: a key that comes several times has its value each time. A missing key is nil, an empty string is
// not. For MGET a key of another type is missing; WithWrongType tells the two apart. Each MGET sees its keys at one
// moment; all together do not.
//
// # Memory
//
// MGet's values are the caller's. They are cut from blocks of up to 1 MiB, so that allocations go by chunks and not by keys. What
// MGetFunc, MGetSeq and Readdir hand out is borrowed: valid only until the next iteration or call; copy with String or
// Append. Values larger than the client's read buffer (ClientOption.ReadBufferEachConn, 0.5 MiB) are assembled in one buffer
// for each MGET under way. MGetSeq and Readdir hold no more than WithParallelism + 2 chunks, whatever there is to read. In
// the server, a reply that was not read yet counts against client-output-buffer-limit: WithChunkBytes makes it smaller.
//
// # Errors
//
// The first error ends a call: no further MGET is sent, those whose reply is being read are interrupted, and nothing that was started
// outlives the call. One that waits for a connection or for the first byte of its reply is waited for, which the context and
// ClientOption.ConnWriteTimeout bound. The error is a [*RangeError], which says for which keys; the server's own
// error is in it, for errors.As. When the context is done, errors.Is(err, ctx.Err()) holds. With WithPartial, MGet and
// MGetFunc go on and return what can be had. A reply that is not what was asked for is ErrReply.
//
// A connection that ends before a reply has begun, as pooled ones do after a restart, is replaced. If one ends within a reply, what
// is missing is asked for again, up to three times: nothing is given out twice.
//
// # Clusters
//
// Keys are brought into the order of their slots, so that a chunk is of few nodes, and are sent there as one MGET for each slot, up
// to about a thousand of them in a pipeline. What a node does not answer for, since the slot has moved or is on the move,
// is asked for key by key, following MOVED and ASK: results are full and right, and nothing waits for the end of a move.
// Where the client knows the nodes by other names than the cluster has for them, all goes over the shared connections.
//
// # What is not covered
//
// A client that does not hand out its connections' readers, such as a mock, gets rueidisstream.ErrUnsupported for what does not go
// over the shared connection: WithSmall makes it go there. rueidis v1.0.79 loses a place of its pool when a context ends while
// it dials a connection for a stream.
package rueidisbatch
