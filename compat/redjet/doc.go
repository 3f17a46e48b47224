// Package redjet is the API of github.com/coder/redjet over a rueidis client.
package redjet
