//go:build !race

package rueidisbatch_test

// raceOn tells that the race detector is on: it makes everything slower and larger, and sync.Pool forget at random.
const raceOn = false
