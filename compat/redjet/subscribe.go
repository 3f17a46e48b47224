package redjet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/rueidisstream"
)

// SubMessageType says what a SubMessage tells: the first word of the server's message, "subscribe" or "message", or after PSUBSCRIBE and
// SSUBSCRIBE "psubscribe", "pmessage", "ssubscribe" or "smessage".
type SubMessageType string

const (
	// SubMessageSubscribe confirms that a channel is subscribed to.
	SubMessageSubscribe SubMessageType = "subscribe"
	// SubMessageMessage is a message to a channel.
	SubMessageMessage SubMessageType = "message"
)

// SubMessage is a message of a subscription.
type SubMessage struct {
	// Type is SubMessageSubscribe, SubMessageMessage, or one of the others that SubMessageType lists.
	Type SubMessageType
	// Channel is where the message comes from. For "psubscribe" it is the pattern.
	Channel string
	// Payload is the message or, of a confirmation, how many channels the Pipeline is subscribed to by now.
	Payload string
}

// NextSubMessage waits for the next message after SUBSCRIBE, PSUBSCRIBE or SSUBSCRIBE. For each channel a confirmation comes first. The wait ends
// with the context, with Close on another goroutine, and with the connection; the error says which. Messages can be read by ArrayLength and String
// as well, as redjet's own documentation has it: they are arrays of three, those of a pattern, of four.
//
// It does not close the Pipeline.
func (p *Pipeline) NextSubMessage() (*SubMessage, error) {
	n, err := p.ArrayLength()
	if err != nil {
		return nil, err
	}
	if n != 3 && n != 4 {
		return nil, fmt.Errorf("expected 3 elements, got %d", n)
	}
	var words [4]string
	for i := range n {
		if words[i], err = p.String(); err != nil {
			return nil, err
		}
	}
	if n == 4 { // "pmessage", pattern, channel, payload
		words[1], words[2] = words[2], words[3]
	}
	return &SubMessage{SubMessageType(words[0]), words[1], words[2]}, nil
}

func isSubscribe(name string) bool {
	return name == "SUBSCRIBE" || name == "PSUBSCRIBE" || name == "SSUBSCRIBE"
}

// subscribe is a command that subscribes.
type subscribe struct {
	name     string
	channels []string
}

func (p *Pipeline) subscribes() bool {
	if len(p.infos) == 0 {
		return false
	}
	_, ok := p.infos[len(p.infos)-1].job.(*subscribe)
	return ok
}

func (p *Pipeline) queueSubscribe(name string, args []any) error {
	if len(args) == 0 {
		return errors.New("no channel")
	}
	if p.state.multi {
		return errors.New("not within MULTI")
	}
	s := &subscribe{name: name}
	for i, arg := range args {
		w, err := word(arg, new(int))
		if err != nil {
			return fmt.Errorf("argument %d: %w", i+1, err)
		}
		s.channels = append(s.channels, w)
	}
	p.cmds, p.infos = append(p.cmds, rueidis.Completed{}), append(p.infos, info{job: s})
	return nil
}

func (s *subscribe) build(b rueidis.Builder) rueidis.Completed {
	switch s.name {
	case "PSUBSCRIBE":
		return b.Psubscribe().Pattern(s.channels...).Build()
	case "SSUBSCRIBE":
		return b.Ssubscribe().Channel(s.channels...).Build()
	}
	return b.Subscribe().Channel(s.channels...).Build()
}

// leaveTime bounds the wait for a connection that is not subscribed any more.
const leaveTime = time.Second

// leave unsubscribes. rueidis does so itself when it takes a connection back, but not on the one that it has for RESP2.
func (s *subscribe) leave(ctx context.Context, c rueidis.CommandClient) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTime)
	defer cancel()
	var cmd rueidis.Completed
	switch s.name {
	case "SUBSCRIBE":
		cmd = c.B().Unsubscribe().Channel(s.channels...).Build()
	case "PSUBSCRIBE":
		cmd = c.B().Punsubscribe().Pattern(s.channels...).Build()
	case "SSUBSCRIBE":
		cmd = c.B().Sunsubscribe().Channel(s.channels...).Build()
	}
	_ = c.Do(ctx, cmd).Error() // a connection that is lost is not subscribed either
}

// start begins to receive. The connection is the subscription's own, as in redjet, so that a reader that is slow holds up nobody else.
func (s *subscribe) start(p *Pipeline) error {
	ctx, cancel := context.WithCancel(p.ctx)
	sub := &subscription{ctx: ctx, cancel: cancel, taken: make(chan struct{}), news: make(chan struct{}, 1), done: make(chan struct{}), kind: strings.ToLower(s.name)}
	go sub.run(p.client.client, s)
	p.sub.Store(sub)
	if p.closing.Load() {
		sub.close() // Close may have looked for it a moment ago, and waits for this goroutine
	}
	return nil
}

// maxWaiting is how many bytes of messages wait for a reader before the subscription is given up. It is Redis' own hard limit of
// client-output-buffer-limit for subscribers.
const maxWaiting = 32 << 20

var errSlow = fmt.Errorf("redjet: more than %d bytes of messages were waiting to be read", maxWaiting)

// subscription is the messages that have arrived.
type subscription struct {
	ctx    context.Context
	cancel context.CancelFunc
	kind   string        // "subscribe", "psubscribe", "ssubscribe"
	taken  chan struct{} // closed when there is a connection
	news   chan struct{} // holds one value if there may be something new
	done   chan struct{} // closed when run has ended

	mu       sync.Mutex
	waiting  []string // messages in RESP
	bytes    int
	channels int
	err      error
	closed   bool
}

func (s *subscription) run(client rueidis.Client, cmd *subscribe) {
	defer close(s.done)
	defer s.cancel()
	ctx := s.ctx
	conn, release := client.Dedicate()
	defer release()
	close(s.taken)
	hooked := rueidis.WithOnSubscriptionHook(ctx, s.confirmed)
	hooked = rueidis.WithOnReceiveReturnHook(hooked, func(err error, c rueidis.CommandClient) error {
		cmd.leave(ctx, c)
		return err
	})
	err := conn.Receive(hooked, cmd.build(conn.B()), s.message)
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case err == nil:
		err = io.ErrUnexpectedEOF
	}
	if fromServer(err) {
		err = serverError(err)
	} else {
		err = ended(err)
	}
	s.end(err)
}

func ended(err error) error { return fmt.Errorf("redjet: the subscription has ended: %w", err) }

// confirmed takes a confirmation. Counted is what this subscription has, whatever else the connection may have had before.
func (s *subscription) confirmed(c rueidis.PubSubSubscription) {
	if c.Kind != s.kind {
		return
	}
	s.mu.Lock()
	s.channels++
	n := s.channels
	s.mu.Unlock()
	s.put("*3\r\n" + bulk(c.Kind) + bulk(c.Channel) + ":" + strconv.Itoa(n) + "\r\n")
}

func (s *subscription) message(m rueidis.PubSubMessage) {
	switch s.kind {
	case "psubscribe":
		s.put("*4\r\n" + bulk("pmessage") + bulk(m.Pattern) + bulk(m.Channel) + bulk(m.Message))
	case "ssubscribe":
		s.put("*3\r\n" + bulk("smessage") + bulk(m.Channel) + bulk(m.Message))
	default:
		s.put("*3\r\n" + bulk("message") + bulk(m.Channel) + bulk(m.Message))
	}
}

func bulk(s string) string { return "$" + strconv.Itoa(len(s)) + "\r\n" + s + "\r\n" }

func (s *subscription) put(message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	s.waiting = append(s.waiting, message)
	if s.bytes += len(message); s.bytes > maxWaiting {
		s.err = errSlow
		s.cancel()
	}
	s.tell()
}

func (s *subscription) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
	s.tell()
}

func (s *subscription) tell() {
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// close ends the subscription and waits for that, but not for a connection out of a pool that has none: who waits for one gives it back
// when it comes.
func (s *subscription) close() {
	s.mu.Lock()
	s.closed = true
	s.tell()
	s.mu.Unlock()
	s.cancel()
	select {
	case <-s.taken:
		<-s.done
	default:
	}
}

// next waits for a message.
func (s *subscription) next() (string, error) {
	for over := false; ; {
		s.mu.Lock()
		switch {
		case s.closed:
			s.tell()
			s.mu.Unlock()
			return "", errClosed
		case len(s.waiting) > 0:
			m := s.waiting[0]
			s.waiting[0] = ""
			s.waiting = s.waiting[1:]
			s.bytes -= len(m)
			s.mu.Unlock()
			return m, nil
		case s.err != nil:
			err := s.err
			s.mu.Unlock()
			return "", err
		case over:
			s.mu.Unlock()
			return "", ended(s.ctx.Err())
		}
		s.mu.Unlock()
		select {
		case <-s.news:
		case <-s.ctx.Done():
			over = true
		}
	}
}

// message takes the head of the next message.
func (p *Pipeline) message() (item, error) {
	s := p.sub.Load()
	m, err := s.next()
	if err == errClosed {
		return item{}, err
	}
	if err != nil {
		return item{}, p.lose(err)
	}
	p.rd = rueidisstream.NewReader(strings.NewReader(m))
	return p.stand(p.rd.Header(), plainShape, nil)
}
