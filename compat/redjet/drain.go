package redjet

// drainBytes is how much is read of replies that nobody wants to keep their connection.
const drainBytes = 256 << 10

// drain sends and reads what is left, and returns the first error. When everything was sent and too much is unread, it stops.
func (p *Pipeline) drain() error {
	const head = 16 // what an element costs beside its bytes
	var first error
	for budget := int64(drainBytes); p.hasMore(); {
		if p.next == p.sent && len(p.stack) == 0 {
			if _, ok := p.infos[p.sent].job.(*subscribe); ok {
				break
			}
		}
		it, err := p.take()
		if err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		budget -= head
		if !it.isNil() && !it.kind.IsAggregate() {
			budget -= max(it.n, 0)
		}
		if budget < 0 && p.sent == len(p.infos) && !p.windows {
			break
		}
		if !it.isNil() && !it.kind.IsAggregate() {
			if err := p.settle(); err != nil && first == nil {
				first = err
			}
		}
	}
	return first
}
