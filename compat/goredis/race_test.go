//go:build race

package goredis_test

// underRace tells that the race detector is on, which allocates, and lets sync.Pool forget at random.
const underRace = true
