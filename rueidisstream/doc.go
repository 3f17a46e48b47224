// Package rueidisstream reads a reply of Redis while it arrives.
package rueidisstream
