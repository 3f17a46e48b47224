//go:build !race

package redjet_test

const raceEnabled = false
