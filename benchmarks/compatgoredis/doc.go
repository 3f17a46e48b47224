// Package compatgoredis compares compat/goredis with rueidiscompat and with go-redis itself, on one server: their results, and
// what they cost. It holds tests and benchmarks only.
package compatgoredis
