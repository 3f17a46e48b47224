package goredis

import (
	"math"

	"github.com/redis/rueidis/rueidiscompat"

	"github.com/rueidisx/rueidisx/rueidisstream"
)

// room is for how many elements memory is taken on the word of a reply's header; more when they have arrived.
const room = 64 << 10

func roomFor(n int64) int { return int(min(max(n, 0), room)) }

// grow makes room for one more, and for more of those that are still to come.
func grow[T any](s []T, left int64) []T {
	if len(s) < cap(s) {
		return s
	}
	bigger := make([]T, len(s), len(s)+int(min(max(left, 16), int64(max(len(s), room)))))
	copy(bigger, s)
	return bigger
}

// text returns what rueidiscompat takes for the string of an element: nothing for an integer, a null or a boolean.
func (w *views) text(v rueidisstream.Value, left int64) string {
	switch v.Kind() {
	case rueidisstream.KindString, rueidisstream.KindSimple, rueidisstream.KindDouble, rueidisstream.KindBigNumber, rueidisstream.KindError, rueidisstream.KindBlobError:
		return w.add(v.Bytes(), left)
	}
	return ""
}

// isList tells whether the reply is what RedisMessage.ToArray takes.
func isList(h rueidisstream.Header) bool {
	return h.Kind == rueidisstream.KindArray || h.Kind == rueidisstream.KindSet
}

// readStrings is RedisMessage.AsStrSlice.
func readStrings(r *rueidisstream.Reader) ([]string, error) {
	h := r.Header()
	if !isList(h) {
		return nil, rueidisstream.ErrShape
	}
	var w views
	strs := make([]string, 0, roomFor(h.Len))
	for v, err := range r.Values() {
		if err != nil {
			return nil, err
		}
		if v.Kind().IsAggregate() {
			return nil, rueidisstream.ErrShape
		}
		left := h.Len - int64(len(strs)) - 1
		strs = append(grow(strs, left+1), w.text(v, left))
	}
	return strs, nil
}

// readSet is readStrings into a map.
func readSet(r *rueidisstream.Reader) (map[string]struct{}, error) {
	h := r.Header()
	if !isList(h) {
		return nil, rueidisstream.ErrShape
	}
	var w views
	left := h.Len
	set := make(map[string]struct{}, roomFor(h.Len))
	for v, err := range r.Values() {
		if err != nil {
			return nil, err
		}
		if v.Kind().IsAggregate() {
			return nil, rueidisstream.ErrShape
		}
		left--
		set[w.text(v, left)] = struct{}{}
	}
	return set, nil
}

// readMap is RedisMessage.AsStrMap.
func readMap(r *rueidisstream.Reader) (map[string]string, error) {
	h := r.Header()
	if !h.Kind.IsAggregate() {
		return nil, rueidisstream.ErrShape
	}
	var w views
	left := h.Len
	pairs := make(map[string]string, roomFor(h.Len/2))
	key, odd := "", false
	for v, err := range r.Values() {
		if err != nil {
			return nil, err
		}
		if v.Kind().IsAggregate() {
			return nil, rueidisstream.ErrShape
		}
		left--
		if odd = !odd; odd {
			key = w.text(v, left)
		} else {
			pairs[key] = w.text(v, left)
		}
	}
	if odd {
		return nil, rueidisstream.ErrShape
	}
	return pairs, nil
}

// readScores is RedisMessage.AsZScores.
func readScores(r *rueidisstream.Reader) ([]rueidiscompat.Z, error) {
	h := r.Header()
	if !isList(h) {
		return nil, rueidisstream.ErrShape
	}
	var w views
	var scores []rueidiscompat.Z
	for p, err := range r.Pairs() {
		if err != nil {
			return nil, err
		}
		if scores == nil { // the header counts pairs in RESP3, and their halves in RESP2
			scores = make([]rueidiscompat.Z, 0, roomFor(h.Len))
		}
		if !isText(p.Key) {
			return nil, rueidisstream.ErrShape
		}
		score, err := scoreOf(p.Value)
		if err != nil {
			return nil, err
		}
		left := h.Len - int64(len(scores)) - 1
		scores = append(grow(scores, left+1), rueidiscompat.Z{Member: w.text(p.Key, left), Score: score})
	}
	if scores == nil {
		scores = []rueidiscompat.Z{}
	}
	return scores, nil
}

// isText tells whether RedisMessage.ToString takes v.
func isText(v rueidisstream.Value) bool {
	switch v.Kind() {
	case rueidisstream.KindString, rueidisstream.KindSimple:
		return true
	}
	return false
}

func scoreOf(v rueidisstream.Value) (float64, error) {
	if !isText(v) && v.Kind() != rueidisstream.KindDouble {
		return 0, rueidisstream.ErrShape
	}
	f, err := v.AsFloat64()
	if err == nil {
		return f, nil
	}
	if string(v.Bytes()) == "-nan" { // of Redis on some platforms
		return math.NaN(), nil
	}
	return 0, rueidisstream.ErrShape
}

// readMessages is RedisMessage.AsXRange.
func readMessages(r *rueidisstream.Reader) ([]rueidiscompat.XMessage, error) {
	h := r.Header()
	if !isList(h) {
		return nil, rueidisstream.ErrShape
	}
	var w views
	messages := make([]rueidiscompat.XMessage, 0, roomFor(h.Len))
	for v, err := range r.Values() {
		if err != nil {
			return nil, err
		}
		left := h.Len - int64(len(messages)) - 1
		m, err := messageOf(&w, v, left)
		if err != nil {
			return nil, err
		}
		messages = append(grow(messages, left+1), m)
	}
	return messages, nil
}

// messageOf is RedisMessage.AsXRangeEntry.
func messageOf(w *views, v rueidisstream.Value, left int64) (m rueidiscompat.XMessage, err error) {
	if v.Kind() != rueidisstream.KindArray || v.Len() != 2 {
		return m, rueidisstream.ErrShape
	}
	i := 0
	for part := range v.Values() {
		switch i++; {
		case i == 1 && isText(part):
			m.ID = w.add(part.Bytes(), left*4)
		case i == 2 && part.IsNil(): // deleted meanwhile
		case i == 2 && part.Kind().IsAggregate():
			if m.Values, err = fieldsOf(w, part, left); err != nil {
				return m, err
			}
		default:
			return m, rueidisstream.ErrShape
		}
	}
	return m, nil
}

func fieldsOf(w *views, v rueidisstream.Value, left int64) (map[string]any, error) {
	n := v.Len()
	if n%2 != 0 {
		return nil, rueidisstream.ErrShape
	}
	left *= n + 1
	fields := make(map[string]any, roomFor(n/2))
	key, odd := "", false
	for part := range v.Values() {
		if part.Kind().IsAggregate() {
			return nil, rueidisstream.ErrShape
		}
		if odd = !odd; odd {
			key = w.text(part, left)
		} else {
			fields[key] = w.text(part, left)
		}
	}
	return fields, nil
}
