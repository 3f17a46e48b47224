# make test    all tests, race detector on, on the newest server; says which, and the coverage
# make demo    the main job on a server that needs no setting up
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GOFUMPT := go run mvdan.cc/gofumpt@v0.12.0
STATICCHECK := go run honnef.co/go/tools/cmd/staticcheck@v0.8.2
IMAGES ?= rueidisx/redis:6.0 rueidisx/redis:7.0 rueidisx/redis:8.0 rueidisx/valkey:8.0 rueidisx/valkey:8.1 rueidisx/valkey:9.1
# What a server can make a difference to.
ON_SERVERS := ^Test(Oracle|OraclePairs|Sizes|KeySize|ElementSizes|Leaving|Forged|DoMulti|Replies|UnfinishedTransaction|MillionMembers|Cluster$$|Sentinel|TLS|Replica|Hook|SetFrom|OpenString|StringReader|ServeContent|TempKey|MGet$$|MGetOwned|Readdir$$|WrongType|Equal|Iterators|DoRawReplies|Types|WriteTo|Subscribe$$)
SERVED := ./rueidisstream ./rueidisbatch
# Their tests use commands that Redis 6.0 does not have.
SERVED_SINCE_7 := ./compat/...
# Allocations, which the race detector changes.
ALLOCATIONS := ^Test(ElementAllocates|HostileHeaders|MillionMembers|CopyMemory|SetFromMemory|CollectionsAllocations|ScanMemory|Sizes|Allocations|FirstCallAllocations|CommandAllocations|HostileLengths|LenReaderMemory|Memory|Case_(A1|A2|A8|A9|C1|B1|B3|B4|B5|B6|B7|F5|G8|J3))
COVERED := 95
REPORT := $(CURDIR)/coverage/servers

.PHONY: help test test-servers lint fuzz demo bench bench-quick images

help:
	@sed -n '/^# make /s/^# //p; /^## /s/^## //p' $(MAKEFILE_LIST)

## make test            all tests
test: coverage/clean
	@RUEIDISX_TEST_REPORT=$(REPORT) go test -race -timeout 30m -coverprofile=coverage/profile ./...
	@RUEIDISX_TEST_REPORT=$(REPORT) go test -run '$(ALLOCATIONS)' -timeout 20m ./...
	@cd benchmarks && go test -race -timeout 10m ./...
	@sort -u $(REPORT)
	@awk -v least=$(COVERED) -f testdata/coverage.awk coverage/profile

coverage/clean:
	@mkdir -p coverage && rm -f $(REPORT)
.PHONY: coverage/clean

## make test-servers    the tests to which the server matters, on all six servers (SHORT=1: smaller)
test-servers: images
	@for image in $(IMAGES); do \
	  echo "== $$image"; \
	  case $$image in *redis:6.*) since= ;; *) since='$(SERVED_SINCE_7)' ;; esac; \
	  RUEIDISX_TEST_IMAGE=$$image RUEIDISX_REQUIRE_SERVER=1 go test -count=1 $(if $(SHORT),-short) -timeout 20m -run '$(ON_SERVERS)' $(SERVED) $$since; \
	done

## make images          the container images of the six servers, from Debian's packages
images:
	@for image in $(IMAGES); do case $$image in rueidisx/*) testdata/images/build $$image ;; esac; done

## make lint            gofumpt, vet, staticcheck
lint:
	@test -z "$$($(GOFUMPT) -l . | tee /dev/stderr)"
	@for module in . benchmarks; do (cd $$module && go vet ./... && $(STATICCHECK) -checks all ./... && go mod tidy -diff); done

## make fuzz            a minute for each fuzz target
fuzz:
	go test -run '^$$' -fuzz FuzzReader -fuzztime 60s -fuzzminimizetime 10x ./internal/resp
	go test -run '^$$' -fuzz FuzzOracle -fuzztime 60s -fuzzminimizetime 10x ./rueidisstream

## make demo            the main job on an embedded server
demo:
	@cd benchmarks && go run ./demo

## make bench           all benchmarks beside the peers, in less than 20 minutes (PART=1,2: only these): benchmarks/results
bench:
	@cd benchmarks && go run ./bench $(if $(PART),-part $(PART))

## make bench-quick     each benchmark once: are the results right, and the allocations as promised?
bench-quick:
	@cd benchmarks && go run ./bench -quick
