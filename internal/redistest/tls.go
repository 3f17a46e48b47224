package redistest

import (
	"strconv"
	"testing"
)

// The users of a server that TLS starts.
const (
	adminPassword  = "redistest-admin"
	readerName     = "reader"
	readerPassword = "redistest-reader"
)

// TLS starts a server that speaks TLS alone, with a certificate from an authority made on the fly, and whose default user has a
// password. The Server returned connects as a user who may only read and PING, beside what a rueidis client needs to connect; [Server.Admin] may do everything. It is stopped when the test ends.
func TLS(tb testing.TB) *Server {
	tb.Helper()
	authority, cert, trust, err := newCertificates()
	if err != nil {
		tb.Fatalf("redistest: certificates: %v", err)
	}
	server := startGroup(tb, 1, func(ports []int) []spec {
		return []spec{{
			port: ports[0],
			at:   endpoint{tls: trust, username: "default", password: adminPassword},
			args: []string{
				"--port", "0", "--tls-port", strconv.Itoa(ports[0]), "--tls-auth-clients", "no",
				"--tls-ca-cert-file", "ca.crt", "--tls-cert-file", "server.crt", "--tls-key-file", "server.key",
				"--requirepass", adminPassword,
				"--user", readerName, "on", ">" + readerPassword, "~*", "+@read", "+ping", "+client", "+hello", "+info", "+role",
			},
			files: map[string]string{"ca.crt": authority.cert, "server.crt": cert.cert, "server.key": cert.key},
		}}
	})[0]
	server.Username, server.Password = readerName, readerPassword
	return server
}

// Admin returns the same server with the name and password of its administrator, who may do everything. Where there are no users, that is the server as it is.
func (s *Server) Admin() *Server {
	admin := *s
	admin.Username, admin.Password = s.at.username, s.at.password
	return &admin
}
