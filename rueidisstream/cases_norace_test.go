//go:build !race

package rueidisstream_test

// caseRace tells that the race detector is on: it makes everything slower, and sync.Pool forget at random.
const caseRace = false
