// Package rueidisstream reads a reply of Redis while it arrives: any command, any type, any size, in constant memory and
// without an allocation per element. It works with any rueidis.Client that an application already holds; where the
// application called client.Do, it calls this package.
//
//	for member, err := range rueidisstream.Values(ctx, client, client.B().Smembers().Key("big").Build()) {
//		if err != nil {
//			return err
//		}
//		use(member.Bytes())
//	}
//
// [Do] returns a [Reader] of the reply, [Values] and [Pairs] iterate over its elements, [Copy] writes one string to an
// io.Writer, and [DoMulti] sends several commands in a pipeline. Arguments come as ctx, client, command, options, which is Go's
// order; rueidis' own helpers take the client first.
//
// # Where a Reader stands
//
// After Do, a Reader stands on the reply itself: a string is read at once, by Read, WriteTo or Value; an aggregate by Values,
// Pairs or Next. Header().Len is the bytes of a string, the elements of an aggregate (two for each pair of a map), and -1
// where the protocol does not say. An empty aggregate yields nothing. Replies.Next returns a command's own server error or
// null as its error and goes on with the next command; any other error is final; io.EOF is the end.
//
// # Sending
//
// Do, Copy and DoMulti send at once; Do returns at the reply's first byte. Values and Pairs send when they are ranged over, which
// can be done once. A stream has one connection to itself, out of the client's pool for blocking commands and streams
// (ClientOption.BlockingPoolSize), until its loop ends or it is closed. No goroutine is started, but for the one by which
// WithScan reads a page ahead.
//
// Commands after which the connection would speak otherwise, or not at all, are refused with ErrUnsupported before anything
// is sent: those that subscribe, MONITOR, HELLO, RESET, QUIT, SYNC, PSYNC and CLIENT REPLY.
//
// # Routing and retries
//
// Nothing is delivered of a reply that says that the command is for another node of a cluster: MOVED and ASK are followed, and
// the client is made to look at the cluster anew. For a command that only reads, TRYAGAIN, CLUSTERDOWN and LOADING are
// waited for, a primary that failed over is looked for, and a connection that turns out to have been closed before anything of
// the reply arrived, as pooled connections are after a restart, is replaced. All this ends with the context, and after some
// seconds without one. After the first byte nothing is sent again, but for pages of WithScan. A command that writes is executed once at most: it is
// sent again only when the server said that it did not execute it.
//
// # Errors
//
// At most one error comes, always last. A server error or a null for the whole reply is the genuine *rueidis.RedisError or
// rueidis.Nil, unwrapped, since rueidis.IsRedisNil and rueidis.IsRedisErr compare directly; the connection is kept. An error or
// null inside an aggregate is an element. An error from the connection is wrapped with the position that was reached, and the
// connection is closed; one that ends early is io.ErrUnexpectedEOF, never io.EOF, so that io.ReadAll cannot take a cut value for
// a whole one. When the context is done, errors.Is(err, ctx.Err()) holds.
//
// # Leaving early
//
// A loop may be left by break, return, panic or runtime.Goexit, and a Reader closed anywhere. If what is unread is at most
// WithDrain bytes, it is read and the connection goes back to the pool; else the connection is closed, without a look at what
// it still has, and the pool dials a new one when it needs one. A connection is either proven to stand where it must, or
// closed: behind every stream a reply of known bytes is due, and has to be there.
//
// # Borrowed bytes
//
// Elements are valid only until the next iteration or call; copy with String or Append. Elements up to the client's read
// buffer (ClientOption.ReadBufferEachConn, 0.5 MiB) are views of it; larger ones are assembled in one buffer that is reused.
// Both halves of a Pair are valid together.
//
// # RESP2 and RESP3
//
// Both protocols give the same elements: pairs come from flat arrays, maps and arrays of pairs; the nulls of both are one
// kind; a verbatim string comes without its prefix "txt:"; push data and attributes are passed over; streamed strings and
// aggregates are understood.
//
// # Hostile bytes
//
// A length from the wire is checked before it is used, and memory grows only with bytes received. WithMaxBytes and
// WithMaxDepth limit what one element may take. (For Copy of a command that replies with a string, rueidis reads the reply's
// header; an aggregate in its place, which no server sends, would be read into memory.)
//
// # Time
//
// ClientOption.ConnWriteTimeout bounds the wait for the first byte, as it does for client.Do, but not for blocking commands such as
// BLPOP. From then on only the context rules: its deadline and its cancelling interrupt a read that waits. A stream
// that takes long, or whose consumer is slow, is no error.
//
// [Dial], where the client is made, adds two things: cancelling interrupts the wait for the first byte as well, and a connection
// that is silent in the middle of a reply for longer than ConnWriteTimeout is an error, ErrStalled. Four ends are told apart:
//
//	context.Canceled, context.DeadlineExceeded   the context ended it
//	ErrStalled                                   server or network fell silent (with Dial)
//	io.ErrUnexpectedEOF                          the connection was cut
//	other errors of the connection               as they come; a dial that timed out is a context.DeadlineExceeded
//	                                             to net, too: then it is a *net.OpError, and ctx.Err() is nil
//
// # What a slow reader costs
//
// A consumer that is slow stops the reading. What it has not read yet waits in the server, in the output buffer of the client's
// connection: the server holds all of the rest of the reply in memory, and counts it against client-output-buffer-limit,
// which may end the connection (io.ErrUnexpectedEOF). The client holds no more than its read buffer. Where many are slow at the same
// time, WithScan costs the server a page for each, and OpenString a range.
//
// # Whole keys
//
// [Members], [Fields], [Scores], [Elements] and [Entries] are for all of a key, and [Keys] for the keyspace. A small key comes in one
// round trip over the connection that all callers share; a big one is streamed. Which of them a key was the last time is remembered,
// for the process and in 16 KiB, so that a big one is not first asked whether it is small. See [WithSmall].
//
// What comes is atomic: what the key held at one moment, from one command that the server runs alone. WithScan is not: it reads
// by pages, so that the server is never held for longer than a page. In a cluster its pages come from one node, and if the
// key moves, or its node fails over, from the one that has it then; each element still comes once.
//
// # Writing and ranges
//
// [SetFrom] sets a key from an io.Reader of unknown length in constant memory, all or nothing. [OpenString] reads a string anywhere
// in it, by GETRANGE, for http.ServeContent and the like, and makes a change or disappearance that it notices an error.
//
// # What is not covered
//
// MULTI to EXEC belongs into one DoMulti. A connection that was changed for those who would get it next, by SELECT, AUTH, CLIENT
// SETNAME or a WATCH without its EXEC, is closed behind the stream.
package rueidisstream
