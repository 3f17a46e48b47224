// Package goredis is the API of go-redis over a rueidis client, as rueidiscompat has it, with big replies read as a stream.
package goredis
