package main

import (
	"strconv"
	"strings"
	"time"
)

// serverCost is what the server has taken since it began.
type serverCost struct {
	commands time.Duration // executing commands that read collections and keys
	process  time.Duration // of its processor, all that it does: reading, executing, writing
}

func (e *env) cost() (serverCost, error) {
	var c serverCost
	for _, section := range []string{"commandstats", "cpu"} {
		info, err := e.rueidis.Do(e.ctx, e.rueidis.B().Info().Section(section).Build()).ToString()
		if err != nil {
			return c, err
		}
		more := parseCost(info)
		c.commands += more.commands
		c.process += more.process
	}
	return c, nil
}

// counted are the commands of a listing.
var counted = []string{"hgetall", "hscan", "hlen", "mget", "get"}

func parseCost(info string) serverCost {
	var c serverCost
	for line := range strings.Lines(info) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch name {
		case "used_cpu_sys", "used_cpu_user":
			seconds, _ := strconv.ParseFloat(value, 64)
			c.process += time.Duration(seconds * float64(time.Second))
			continue
		}
		for _, command := range counted {
			if name == "cmdstat_"+command {
				_, rest, _ := strings.Cut(value, "usec=")
				digits, _, _ := strings.Cut(rest, ",")
				micros, _ := strconv.ParseInt(digits, 10, 64)
				c.commands += time.Duration(micros) * time.Microsecond
			}
		}
	}
	return c
}
