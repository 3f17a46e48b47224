// Command bench measures rueidisx beside its peers, all on one server and in one run, and checks what every one of them read.
//
// Each of its five parts writes three files to benchmarks/results: the raw measurements in the format of Go's benchmarks, with
// the command, the server and the versions in the head; the tables of benchstat with a column for each implementation; and
// plots. The implementations of one benchmark take turns, round by round, so that what disturbs the machine disturbs all.
//
//	go run ./bench             everything, less than 20 minutes
//	go run ./bench -part 1,2   the streaming read of rueidis' pull request 460; the benchmark of hiredis
//	go run ./bench -quick      everything once, on small data: are the results right, and the allocations as promised?
//
// The server is that of REDIS_URL if that is set, else a redis-server or valkey-server of PATH, else a container. What peers are not
// installed, of those that are not written in Go, is said and left out.
package main
