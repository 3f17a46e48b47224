package redistest

import (
	"fmt"
	"slices"
	"strings"
)

// The version that a Fake claims to be.
const fakeVersion = "7.4.0"

func isBuiltIn(name string) bool {
	return slices.Contains([]string{"HELLO", "AUTH", "SELECT", "PING", "CLIENT", "READONLY", "READWRITE", "INFO", "ROLE", "QUIT"}, name)
}

func (c *FakeConn) builtIn(cmd []string) {
	switch name := strings.ToUpper(cmd[0]); name {
	case "HELLO":
		c.hello(cmd)
	case "PING":
		if len(cmd) > 1 {
			c.Write(Bulk(cmd[1]))
		} else {
			c.Write("+PONG\r\n")
		}
	case "CLIENT":
		if len(cmd) > 1 && strings.EqualFold(cmd[1], "ID") {
			c.Write(fmt.Sprintf(":%d\r\n", c.ID))
		} else {
			c.Write("+OK\r\n")
		}
	case "INFO":
		c.Write(Bulk("# Server\r\nredis_version:" + fakeVersion + "\r\nredis_mode:standalone\r\n# Replication\r\nrole:master\r\n"))
	case "ROLE":
		c.Write(Array(Bulk("master"), ":0\r\n", Array()))
	case "QUIT":
		c.Write("+OK\r\n")
		c.Cut()
	case "AUTH", "SELECT", "READONLY", "READWRITE":
		c.Write("+OK\r\n")
	default:
		c.Write("-ERR unknown command '" + cmd[0] + "'\r\n")
	}
}

func (c *FakeConn) hello(cmd []string) {
	proto := 0
	switch {
	case c.fake.resp2:
		c.Write("-ERR unknown command 'HELLO'\r\n")
		return
	case len(cmd) > 1 && cmd[1] == "2":
		proto = 2
	case len(cmd) > 1 && cmd[1] == "3":
		proto = 3
	case len(cmd) == 1:
		proto = max(c.proto, 2)
	default:
		c.Write("-NOPROTO unsupported protocol version\r\n")
		return
	}
	c.proto = proto
	fields := []string{
		Bulk("server"), Bulk("redis"), Bulk("version"), Bulk(fakeVersion), Bulk("proto"), fmt.Sprintf(":%d\r\n", proto),
		Bulk("id"), fmt.Sprintf(":%d\r\n", c.ID), Bulk("mode"), Bulk("standalone"), Bulk("role"), Bulk("master"), Bulk("modules"), Array(),
	}
	if proto == 3 {
		c.Write(Map(fields...))
	} else {
		c.Write(Array(fields...))
	}
}
