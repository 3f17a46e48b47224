// Command demo shows what rueidisstream does, on a machine that has nothing but Go. It picks a server, fills it with a big
// string, a big set and a big hash, and reads each of them twice: with client.Do and with the one call that is put in its
// place. It checks every result, lays time, first element, heap and allocations side by side, and exits 1 if anything is wrong.
//
// The server is the one of the environment variable REDIS_URL, where only keys that begin with "rueidisx:demo:" are written,
// and deleted at the end. Without REDIS_URL it is a redis-server or valkey-server from PATH, or else a miniredis. Both of
// them are child processes, which listen on the loopback address and end with the demo.
//
//	go run ./demo
//	go run ./demo -quick
//	REDIS_URL=redis://localhost:6379 go run ./demo
package main
