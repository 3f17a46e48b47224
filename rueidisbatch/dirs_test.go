package rueidisbatch_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisbatch"
)

// What a directory was the last time decides how its names are asked for, and never which there are.
func TestDirsRemembered(t *testing.T) {
	type step struct {
		entries int
		cmds    string
	}
	for name, row := range map[string]struct {
		opts  []rueidisbatch.Option
		steps []step
	}{
		"pages": {nil, []step{
			{5, "HSCAN"},
			{512, "HRANDFIELD"},
			{513, "HRANDFIELD HLEN HGETALL"},
			{513, "HLEN HGETALL"},
			{4096, "HLEN HGETALL"},
			{4097, "HLEN HSCAN"},
			{512, "HLEN HGETALL"},
			{512, "HRANDFIELD"},
			{0, "HRANDFIELD"},
			{4097, "HRANDFIELD HLEN HSCAN"},
		}},
		"snapshot": {[]rueidisbatch.Option{rueidisbatch.WithSnapshot()}, []step{
			{1, "HSCAN"},
			{2, "HRANDFIELD"},
			{600, "HRANDFIELD HGETALL"},
			{600, "HGETALL"},
			{100, "HGETALL"},
			{100, "HRANDFIELD"},
		}},
		"small chunk": {[]rueidisbatch.Option{rueidisbatch.WithChunk(10)}, []step{
			{10, "HSCAN"},
			{10, "HRANDFIELD"},
			{11, "HRANDFIELD HLEN HSCAN"},
			{11, "HLEN HSCAN"},
			{9, "HLEN HGETALL"},
			{9, "HRANDFIELD"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			everyClient(t, func(t *testing.T, plain rueidis.Client) {
				if plain.Do(within(t), plain.B().Hrandfield().Key("none").Build()).Error() != rueidis.Nil {
					t.Log("a server without HRANDFIELD: see TestDirsWithoutCommand")
					return
				}
				c, rec := recorded(t, plain)
				inode := unlisted()
				for i, s := range row.steps {
					require.NoError(t, plain.Do(within(t), plain.B().Del().Key("d"+strconv.FormatUint(inode, 10)).Build()).Error())
					dir := fillDir(t, plain, inode, s.entries)
					n, err := list(t, within(t), c, dir, nil, row.opts...)
					require.NoError(t, err)
					require.Equal(t, s.entries, n)
					var names []string // of the commands for the directory, each once in a row
					for _, cmd := range rec.taken("") {
						if len(cmd) > 1 && cmd[1] == dir && (len(names) == 0 || names[len(names)-1] != cmd[0]) {
							names = append(names, cmd[0])
						}
					}
					require.Equal(t, s.cmds, strings.Join(names, " "), i)
				}
			})
		})
	}
}

// A server that does not have HRANDFIELD is asked once, and one that gives nonsense for it is an error.
func TestDirsWithoutCommand(t *testing.T) {
	redistest.NoLeak(t)
	reply := "-ERR unknown command\r\n"
	f := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
		if cmd[0] == "HSCAN" {
			c.Write(redistest.Array(redistest.Bulk("0"), redistest.Array(redistest.Bulks("a", "1", "b", "2")...)))
		} else {
			c.Write(reply)
		}
	})
	c, rec := recorded(t, dial(t, f.Addr()))
	names := func(dir string) (got []string, err error) {
		for e, err := range rueidisbatch.Readdir(within(t), c, dir, nil) {
			if err != nil {
				return got, err
			}
			got = append(got, string(e.Name)+"="+string(e.Value))
		}
		return got, nil
	}
	dir := "d" + strconv.FormatUint(unlisted(), 10)
	for _, asked := range []string{"HSCAN", "HRANDFIELD HSCAN", "HSCAN", "HSCAN"} {
		got, err := names(dir)
		require.NoError(t, err)
		require.Equal(t, []string{"a=1", "b=2"}, got)
		var cmds []string
		for _, cmd := range rec.taken("") {
			cmds = append(cmds, cmd[0])
		}
		require.Equal(t, asked, strings.Join(cmds, " "))
	}
	a, b := redistest.Bulk("a"), redistest.Bulk("b")
	for name, bad := range map[string]string{
		"an odd number":      redistest.Array(a, b, a),
		"one of two":         redistest.Array(redistest.Array(a, b), redistest.Array(a)),
		"a string as a pair": redistest.Array(redistest.Array(a, b), a),
	} {
		t.Run(name, func(t *testing.T) {
			dir := "d" + strconv.FormatUint(unlisted(), 10)
			_, err := names(dir)
			require.NoError(t, err)
			reply = bad
			_, err = names(dir)
			require.ErrorIs(t, err, rueidisbatch.ErrReply)
		})
	}
	t.Run("cut", func(t *testing.T) {
		f := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
			if cmd[0] == "HSCAN" {
				c.Write(redistest.Array(redistest.Bulk("0"), redistest.Array()))
			} else {
				c.Cut()
			}
		})
		c = dial(t, f.Addr(), func(o *rueidis.ClientOption) { o.DisableRetry = true })
		dir := "d" + strconv.FormatUint(unlisted(), 10)
		_, err := names(dir)
		require.NoError(t, err)
		_, err = names(dir)
		require.Error(t, err)
	})
}
