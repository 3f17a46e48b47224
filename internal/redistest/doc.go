// Package redistest starts the servers that the tests of this module run against.
//
// # Real servers
//
// [Shared], [Standalone], [Replica], [TLS], [NewCluster] and [NewSentinel] start real servers and stop them when the test ends. They run in
// containers where a Docker engine answers and as local processes where none does; RUEIDISX_TEST_ENGINE (container, process,
// auto) forces the choice. RUEIDISX_TEST_IMAGE names the image; without it, it is redis:8. An image that is not there is made
// from Debian's packages by testdata/images/build. Where no server can be had, the test is skipped with a message that
// says what is missing, or fails if RUEIDISX_REQUIRE_SERVER is set or the image was named. All servers listen on 127.0.0.1 only.
//
// A package that uses them has a TestMain:
//
//	func TestMain(m *testing.M) { redistest.Main(m) }
//
// # Faults
//
// [NewFake] is a server that answers from a script, down to the single byte and packet. [NewProxy] stands between a client and a
// real server and slices, slows, stalls or cuts what passes. [NoLeak] checks that a test leaves no goroutine behind.
package redistest
