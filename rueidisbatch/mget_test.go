package rueidisbatch_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisbatch"
)

var keySizes = []int{0, 1, 63, 64, 65, 4095, 4096, 4097, 8192, 8193, 10000}

// optionRows are ways to divide keys.
var optionRows = []struct {
	name string
	most int // keys for which this is quick enough; 0 is any number
	opts []rueidisbatch.Option
}{
	{"defaults", 0, nil},
	{"zero values", 0, []rueidisbatch.Option{{}, rueidisbatch.WithChunk(0), rueidisbatch.WithChunkBytes(0), rueidisbatch.WithParallelism(0)}},
	{"chunk 1", 100, []rueidisbatch.Option{rueidisbatch.WithChunk(1)}},
	{"chunk 999, parallel 7", 0, []rueidisbatch.Option{rueidisbatch.WithChunk(999), rueidisbatch.WithParallelism(7)}},
	{"chunk above n", 0, []rueidisbatch.Option{rueidisbatch.WithChunk(100000)}},
	{"one after the other", 0, []rueidisbatch.Option{rueidisbatch.WithParallelism(1)}},
	{"no small path", 0, []rueidisbatch.Option{rueidisbatch.WithSmall(0)}},
	{"all small", 0, []rueidisbatch.Option{rueidisbatch.WithSmall(100000)}},
	{"chunks of 1000 bytes", 0, []rueidisbatch.Option{rueidisbatch.WithChunkBytes(1000)}},
	{"wrong types are marked", 0, []rueidisbatch.Option{rueidisbatch.WithWrongType(rueidisbatch.WrongTypeMark)}},
	{"partial", 0, []rueidisbatch.Option{rueidisbatch.WithPartial()}},
	{"replicas allowed", 0, []rueidisbatch.Option{rueidisbatch.AllowReplica()}},
}

// All sizes, options, shapes and clients give what client.Do(MGET) gives.
func TestMGet(t *testing.T) {
	everyClient(t, func(t *testing.T, c rueidis.Client) { mgetRows(t, c) })
}

func mgetRows(t *testing.T, c rueidis.Client) {
	allKeys, allVals := fillKeys(t, c, slices.Max(keySizes))
	for _, row := range optionRows {
		for _, n := range keySizes {
			if row.most > 0 && n > row.most {
				n = row.most
			}
			keys, vals := allKeys[:n], allVals[:n]
			for _, s := range shapes {
				got, err := s.read(within(t), c, keys, row.opts...)
				require.NoError(t, err, "%s, %s, %d keys", s.name, row.name, n)
				same(t, vals, got)
			}
		}
	}
}

// Values are slices of their own: appending to one leaves the next as it is.
func TestMGetOwned(t *testing.T) {
	c := redistest.NewClient(t, redistest.Shared(t))
	keys, vals := fillKeys(t, c, 5000)
	for _, opt := range []rueidisbatch.Option{{}, rueidisbatch.WithSmall(10000), rueidisbatch.WithChunk(100)} {
		got, err := rueidisbatch.MGet(within(t), c, keys, opt)
		require.NoError(t, err)
		for i := range got {
			_ = append(got[i], "overwritten"...)
		}
		same(t, vals, got)
	}
}

// Values around the size of a block, and larger than the client's read buffer.
func TestMGetLarge(t *testing.T) {
	everyClient(t, func(t *testing.T, c rueidis.Client) {
		var keys []string
		var vals [][]byte
		for i, n := range []int{0, 1, 1<<20 - 1, 1, 1 << 20, 1<<20 + 1, 0, 512 << 10, 512<<10 - 1, 3 << 20, 5} {
			val := slices.Repeat([]byte{byte('a' + i)}, n)
			keys, vals = append(keys, fmt.Sprint("large:", i)), append(vals, append([]byte{}, val...))
			require.NoError(t, c.Do(within(t), c.B().Set().Key(keys[i]).Value(string(val)).Build()).Error())
		}
		for _, s := range shapes {
			for _, opts := range [][]rueidisbatch.Option{nil, {rueidisbatch.WithSmall(0)}, {rueidisbatch.WithSmall(0), rueidisbatch.WithChunk(2)}} {
				got, err := s.read(within(t), c, keys, opts...)
				require.NoError(t, err)
				same(t, vals, got)
			}
		}
	})
}

// A key of another type is missing, an error, or marked, as WithWrongType says.
func TestWrongType(t *testing.T) {
	everyClient(t, func(t *testing.T, c rueidis.Client) {
		keys, vals := fillKeys(t, c, 3000)
		for _, i := range []int{7, 2500} {
			require.NoError(t, c.Do(within(t), c.B().Del().Key(keys[i]).Build()).Error())
			require.NoError(t, c.Do(within(t), c.B().Lpush().Key(keys[i]).Element("x").Build()).Error())
			vals[i] = nil
		}
		defer c.Do(within(t), c.B().Del().Key(keys[7], keys[2500]).Build())
		isError, marked := rueidisbatch.WithWrongType(rueidisbatch.WrongTypeError), rueidisbatch.WithWrongType(rueidisbatch.WrongTypeMark)
		for _, small := range []rueidisbatch.Option{{}, rueidisbatch.WithSmall(10000), rueidisbatch.WithChunk(100)} {
			for _, s := range shapes {
				got, err := s.read(within(t), c, keys, small)
				require.NoError(t, err)
				same(t, vals, got)
				_, err = s.read(within(t), c, keys, isError, small)
				require.ErrorIs(t, err, rueidisbatch.ErrWrongType)
				var at *rueidisbatch.RangeError
				require.ErrorAs(t, err, &at)
				require.Equal(t, at.From+1, at.To)
				require.Contains(t, []int{7, 2500}, at.From)
			}
			for _, wrong := range []rueidisbatch.Option{isError, marked} { // there is no room for marks
				got, err := rueidisbatch.MGet(within(t), c, keys, wrong, small, rueidisbatch.WithPartial())
				same(t, vals, got)
				require.Equal(t, []int{7, 2500}, failedKeys(err))
			}
			n := 0
			for item, err := range rueidisbatch.MGetSeq(within(t), c, slices.Values(keys), marked, small) {
				require.NoError(t, err)
				require.Equal(t, n == 7 || n == 2500, item.WrongType, "%d", n)
				n++
			}
			require.Equal(t, 3000, n)
		}
	})
}

// failedKeys returns the keys that an error is of, in order.
func failedKeys(err error) (keys []int) {
	var all []error
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	} else if err != nil {
		all = []error{err}
	}
	for _, err := range all {
		var at *rueidisbatch.RangeError
		if errors.As(err, &at) {
			keys = append(keys, at.Indexes...)
			for i := at.From; at.Indexes == nil && i < at.To; i++ {
				keys = append(keys, i)
			}
		}
	}
	slices.Sort(keys)
	return keys
}

// An error of the caller's function comes back as it is and ends the call; a panic and Goexit do as well, after all others.
func TestMGetFuncLeaves(t *testing.T) {
	everyClient(t, func(t *testing.T, c rueidis.Client) {
		keys, _ := fillKeys(t, c, 10000)
		mine := errors.New("mine")
		for _, opts := range [][]rueidisbatch.Option{
			{rueidisbatch.WithChunk(100), rueidisbatch.WithParallelism(4)},
			{rueidisbatch.WithParallelism(1)},
			{rueidisbatch.WithSmall(10000), rueidisbatch.WithChunk(10000)},
			{rueidisbatch.WithPartial(), rueidisbatch.WithChunk(100)},
		} {
			for _, at := range []int{0, 5000, 9999} {
				err := rueidisbatch.MGetFunc(within(t), c, keys, func(i int, _ []byte) error {
					if i == at {
						return mine
					}
					return nil
				}, opts...)
				require.True(t, err == mine, "%v", err)

				require.PanicsWithValue(t, "mine", func() {
					_ = rueidisbatch.MGetFunc(within(t), c, keys, func(i int, _ []byte) error {
						if i == at {
							panic("mine")
						}
						return nil
					}, opts...)
				})

				left := make(chan bool)
				go func() {
					returned := false
					defer func() { left <- returned }()
					_ = rueidisbatch.MGetFunc(within(t), c, keys, func(i int, _ []byte) error {
						if i == at {
							goexit()
						}
						return nil
					}, opts...)
					returned = true
				}()
				require.False(t, <-left)
			}
		}
	})
}
