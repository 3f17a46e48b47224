// Package rueidisbatch reads many keys at once.
package rueidisbatch
