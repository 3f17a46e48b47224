package main

import (
	"slices"
	"strings"
)

// only keeps the results of benchmarks whose names begin with that.
func only(results []result, prefix string) []result {
	return slices.DeleteFunc(slices.Clone(results), func(r result) bool { return !strings.HasPrefix(r.bench, prefix) })
}

func plotStreaming(p *plotting, results []result) error {
	return p.bars("time", "One string, and a pipeline of 20, to an io.Writer (bars above 4 are cut)", "rueidis", "sec/op", results)
}

func plotCollections(p *plotting, results []result) error {
	for _, kind := range kinds {
		if err := p.lines(strings.ToLower(kind), kind+": time for all elements", "size", "elements of 16 bytes", "sec/op", "seconds", only(results, kind+"/")); err != nil {
			return err
		}
	}
	return p.bars("relative", "SMEMBERS: time, beside client.Do (bars above 4 are cut)", "client.Do", "sec/op", only(results, "SMEMBERS/"))
}

func plotReaddir(p *plotting, results []result) error {
	for _, v := range []struct{ name, title, unit, y string }{
		{"time", "A directory with its attributes: time", "sec/op", "seconds"},
		{"first", "A directory with its attributes: time to the first entry", "first-sec/op", "seconds"},
		{"heap", "A directory with its attributes: peak heap", "peakheap-B", "bytes"},
		{"ping", "Meanwhile, a bystander's PING: worst", "ping-max-sec", "seconds"},
	} {
		if err := p.lines(v.name, v.title, "files", "files", v.unit, v.y, results); err != nil {
			return err
		}
	}
	return nil
}

func plotGrowth(p *plotting, results []result) error {
	for _, kind := range kinds {
		of := only(results, "Growth/do="+kind+"/")
		if err := p.lines(strings.ToLower(kind), kind+": time per element", "size", "elements", "sec/element", "seconds", of); err != nil {
			return err
		}
		if err := p.lines(strings.ToLower(kind)+"-heap", kind+": peak heap", "size", "elements", "peakheap-B", "bytes", of); err != nil {
			return err
		}
	}
	for _, size := range []string{"10", "100"} {
		of := only(results, "Concurrent/size="+size+"/")
		if err := p.lines("concurrent-"+size, "A set of "+size+" members by many goroutines: time per call", "goroutines", "goroutines", "sec/op", "seconds", of); err != nil {
			return err
		}
	}
	return nil
}

func plotMemory(p *plotting, results []result) error {
	for _, v := range []struct{ name, prefix, title string }{
		{"get", "Memory/do=GET/", "A big string: peak RSS of the process"},
		{"smembers", "Memory/do=SMEMBERS/", "A big set: peak RSS of the process"},
	} {
		if err := p.bars(v.name, v.title, "client.Do", "rss-B", only(results, v.prefix)); err != nil {
			return err
		}
	}
	return nil
}
