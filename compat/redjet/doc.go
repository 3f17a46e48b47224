// Package redjet is the API of github.com/coder/redjet v0.5.0 over a rueidis client: code that was written for redjet changes its import
// path and its constructor, and shares the client, and its connections, with everything else that uses rueidis.
//
//	client := redjet.New(rueidisClient) // was: redjet.New("localhost:6379")
//
//	err := client.Command(ctx, "SET", "foo", "bar").Ok()
//	n, err := client.Command(ctx, "GET", "big-object").WriteTo(os.Stdout)
//
// As in redjet, WriteTo hands a value on while it arrives, and a LenReader is an argument that need not stand in memory. Below
// are the streams of rueidisstream, whose errors, routing and handling of time hold here as well.
//
// # When commands are sent
//
// When the next reply is due and has not been asked for: by the first method that reads, or Close. All commands that wait then go in
// one pipeline. When all replies have been read the connection is given back, whether the Pipeline is closed or not.
//
// # Differences that repair
//
// These are faults of redjet v0.5.0 that nobody can want.
//
//   - An empty string is empty. redjet leaves its line end unread, and the next reply of the connection, which may be somebody else's,
//     fails with an unknown type. Bytes of an empty string is not nil; Bytes of a null is.
//   - Arrays in arrays are counted right: Next, ArrayStack and Close know the end of the reply. redjet counts each inner one as a reply, and
//     waits for more than will come or leaves replies unread, which the next user of the connection gets as his own.
//   - A null array is a null: WriteTo writes nothing, and it counts as read. redjet writes -1, and then waits for ever.
//   - A null for ArrayLength is -1, and for Strings nil, without an error, whether it is a null array or a null string: RESP3 has one null for both.
//   - Strings fails for an array of arrays, and passes over all of it. redjet takes the inner lengths for strings and leaves the rest.
//   - PING is a command like others. redjet takes it for a subscription and neither closes the Pipeline nor keeps the connection; so it does with QUIT and RESET.
//   - An argument that JSON cannot encode is the Pipeline's error. redjet panics.
//   - A LenReader that ends early, or fails, is an error, and nothing is set. redjet sends what it has and breaks the protocol.
//   - When the writer of WriteTo fails, the rest of that string is passed over and the other replies can be read. redjet's Pipeline is then useless.
//   - Close reads all, although the server replied an error to one command, and returns the first; errors of the connection that it meets as well.
//     redjet returns at that error and keeps the connection.
//   - A context that is done interrupts a read that waits, and the error is the context's. redjet waits for the reply.
//   - NextSubMessage understands the messages of PSUBSCRIBE, and Close ends its wait.
//   - Next is true after SUBSCRIBE for as long as messages may come. In redjet it is false after the first.
//
// # Differences that rueidis makes
//
//   - Client has no settings and no PoolStats: the rueidis client has them, under its names, and is closed by whoever made it.
//   - A connection belongs to a Pipeline only from the sending to the last reply of a round. What spans rounds is therefore refused: MULTI
//     without its EXEC, and commands after WATCH, SELECT, AUTH, READONLY or CLIENT SETNAME in an earlier round.
//   - A LenReader of more than 256 KiB is read when the reply is due and not at once; see LenReader, for its limits, too.
//   - MONITOR, HELLO, RESET, QUIT, SYNC, PSYNC and CLIENT REPLY are refused with rueidisstream.ErrUnsupported: the connection is not the
//     Pipeline's own. UNSUBSCRIBE is Close, and one SUBSCRIBE is all of a Pipeline, or its end.
//   - The connection's errors have other texts, and those before the first byte come within rueidis' ConnWriteTimeout, which redjet has not. Commands
//     that only read are sent again if their connection turns out to have been closed before.
//   - Under RESP3 replies are shown as under RESP2, with these exceptions, which redjet could not ask for at all: replies that scripts and modules
//     make in RESP3 types of their own choice come as the text and the flat arrays of these.
//   - On a cluster, commands go by their first key to its node, those without a key to any. In a pipeline over several nodes the replies come
//     in order, but the nodes do not wait for each other, and a node that is lost costs only its own commands.
//
// # Additions
//
// ErrNil tells that the text which Int, JSON or Ok could not use was a null. NewFromURL, Client.Client and Pipeline.HasMore are new.
package redjet
