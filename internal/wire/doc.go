// Package wire borrows a connection of a rueidis client for as long as a reply takes to be read. It is the one place that
// knows how that is done, with nothing but rueidis' public API.
//
// # How the reader is handed out
//
// RedisResultStream.WriteTo(w) reads a string reply by io.Copy(w, *io.LimitedReader), and io.Copy promises that a w with a
// ReadFrom method is handed the source. The source's exported field R is the connection's own *bufio.Reader.
//
// # The bracket
//
// Open sends the caller's k commands between two PINGs, in one write on one connection:
//
//	PING <word>     its reply is a bulk string: our ReadFrom is called and learns the reader
//	<command ...>   k of them: their replies are the caller's to read
//	PING <nulls>    its reply holds what rueidis can read for every WriteTo that it still expects
//
// rueidis expects k+2 calls of WriteTo; the first was the opening's. The payload of the closing PING is k+1 RESP3 nulls
// without the last CRLF. Close checks the reply's header and payload, steps over the header and lets rueidis read the nulls:
// the last call gives the connection back to the pool. The payload is the proof: where it does not stand exactly where it
// must, something took too few or too many bytes, and the connection is closed.
//
// # Giving up
//
// Abandon puts an empty source under the *bufio.Reader (bufio.Reader.Reset), so that whatever rueidis reads next fails. It then
// closes the connection and takes it out of the pool's count. Not a byte of what was left unread is looked at, and nothing
// is waited for.
//
// # The connection below the reader
//
// bufio.Reader.WriteTo(w) hands a w with a ReadFrom method the reader's own source, which is the net.Conn. It does so at
// once only when nothing is buffered. With it the deadline that rueidis armed for the whole exchange, ConnWriteTimeout from
// the sending on, is replaced by the context's, and a cancelled context interrupts a read that blocks. Where the source is no
// net.Conn, both just do not happen.
//
// # Lines
//
// All this begins with the first byte from the server. A Line is a net.Conn that answers the opening PING by itself, while it sends it
// on: so the bracket has the reader, and the Line below it, as soon as the commands are sent, and the context rules over the wait for
// the first byte as well. The server's own answer to the opening is then the first reply (Conn.Opening). The opening's word is
// random, so that nothing that a caller pings can be taken for one. A Line also bounds how long a read may find nothing.
//
// Copy has no bracket. Where there are Lines it sends two openings before its command, which a Line keeps to itself: by the
// answer to the first it has the connection before the reply, and by the second gives it back, after the context has let go.
package wire
