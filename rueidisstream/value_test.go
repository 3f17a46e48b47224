package rueidisstream_test

import (
	"math"
	"strings"
	"testing"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/rueidisstream"
)

// one returns the value that the RESP bytes are, inside an array so that errors and nulls are elements.
func one(t testing.TB, in string) rueidisstream.Value {
	r := reader("*1\r\n" + in)
	for v, err := range r.Values() {
		require.NoError(t, err)
		return v
	}
	t.Fatal("no element")
	return rueidisstream.Value{}
}

func TestValueNumbers(t *testing.T) {
	for _, row := range []struct {
		in   string
		i    any
		u    any
		f    any
		b    any
		kind rueidisstream.Kind
	}{
		{":42\r\n", int64(42), uint64(42), 42.0, true, rueidisstream.KindInteger},
		{":-1\r\n", int64(-1), nil, -1.0, true, rueidisstream.KindInteger},
		{":0\r\n", int64(0), uint64(0), 0.0, false, rueidisstream.KindInteger},
		{"$2\r\n42\r\n", int64(42), uint64(42), 42.0, false, rueidisstream.KindString},
		{"$19\r\n9223372036854775807\r\n", int64(math.MaxInt64), uint64(math.MaxInt64), 9223372036854775807.0, false, rueidisstream.KindString},
		{"$20\r\n18446744073709551615\r\n", nil, uint64(math.MaxUint64), 18446744073709551615.0, false, rueidisstream.KindString},
		{"+OK\r\n", nil, nil, nil, true, rueidisstream.KindSimple},
		{"$2\r\nOK\r\n", nil, nil, nil, true, rueidisstream.KindString},
		{"$0\r\n\r\n", nil, nil, nil, false, rueidisstream.KindString},
		{",1.5\r\n", nil, nil, 1.5, nil, rueidisstream.KindDouble},
		{",inf\r\n", nil, nil, math.Inf(1), nil, rueidisstream.KindDouble},
		{",-inf\r\n", nil, nil, math.Inf(-1), nil, rueidisstream.KindDouble},
		{"$3\r\ninf\r\n", nil, nil, math.Inf(1), false, rueidisstream.KindString},
		{"$6\r\n1e-320\r\n", nil, nil, 1e-320, false, rueidisstream.KindString},
		{"#t\r\n", int64(1), uint64(1), 1.0, true, rueidisstream.KindBool},
		{"#f\r\n", int64(0), uint64(0), 0.0, false, rueidisstream.KindBool},
		{"(12345678901234567890123\r\n", nil, nil, 12345678901234567890123.0, nil, rueidisstream.KindBigNumber},
		{"=6\r\ntxt:42\r\n", int64(42), uint64(42), 42.0, nil, rueidisstream.KindVerbatim},
	} {
		v := one(t, row.in)
		require.Equal(t, row.kind, v.Kind(), row.in)
		check := func(name string, want, got any, err error) {
			if want == nil {
				require.Error(t, err, "%s of %q", name, row.in)
				return
			}
			require.NoError(t, err, "%s of %q", name, row.in)
			require.Equal(t, want, got, "%s of %q", name, row.in)
		}
		i, err := v.AsInt64()
		check("AsInt64", row.i, i, err)
		u, err := v.AsUint64()
		check("AsUint64", row.u, u, err)
		f, err := v.AsFloat64()
		check("AsFloat64", row.f, f, err)
		b, err := v.AsBool()
		check("AsBool", row.b, b, err)
		require.NoError(t, v.Error())
		require.False(t, v.IsNil())
	}
	f, err := one(t, ",nan\r\n").AsFloat64()
	require.NoError(t, err)
	require.True(t, math.IsNaN(f))
}

func TestValueOfNoScalar(t *testing.T) {
	number := func(v rueidisstream.Value) []error {
		_, i := v.AsInt64()
		_, u := v.AsUint64()
		_, f := v.AsFloat64()
		_, b := v.AsBool()
		return []error{i, u, f, b}
	}
	for _, err := range number(one(t, "_\r\n")) {
		require.Equal(t, error(rueidis.Nil), err)
	}
	for _, in := range []string{"-WRONGTYPE no\r\n", "!12\r\nWRONGTYPE no\r\n"} {
		v := one(t, in)
		for _, err := range append(number(v), v.Error()) {
			e, ok := rueidis.IsRedisErr(err)
			require.True(t, ok)
			require.Equal(t, "WRONGTYPE no", e.Error())
		}
		require.Equal(t, "WRONGTYPE no", v.String())
	}
	for _, v := range []rueidisstream.Value{one(t, "*1\r\n:1\r\n"), {}} {
		for _, err := range number(v) {
			require.ErrorIs(t, err, rueidisstream.ErrShape)
		}
		require.Nil(t, v.Bytes())
		require.Empty(t, v.String())
		require.NoError(t, v.Error())
	}
	require.Nil(t, one(t, "_\r\n").Bytes())
	require.True(t, one(t, "_\r\n").IsNil())
	require.Equal(t, "ab", string(one(t, "$1\r\nb\r\n").Append([]byte("a"))))
}

func TestNestedValues(t *testing.T) {
	for _, row := range []struct {
		in   string
		want string
		err  error
	}{
		{"*2\r\n:1\r\n:2\r\n", "1=2", nil},
		{"%1\r\n+k\r\n+v\r\n", "k=v", nil},
		{"~4\r\n+a\r\n+b\r\n+c\r\n+d\r\n", "a=b c=d", nil},
		{"*2\r\n*2\r\n+a\r\n:1\r\n*2\r\n+b\r\n:2\r\n", "a=1 b=2", nil},
		{"%1\r\n*2\r\n:1\r\n:2\r\n+v\r\n", "=v", nil},
		{"*0\r\n", "", nil},
		{"*3\r\n:1\r\n:2\r\n:3\r\n", "", rueidisstream.ErrShape},
		{"*2\r\n*2\r\n+a\r\n:1\r\n+b\r\n", "a=1", rueidisstream.ErrShape},
		{":1\r\n", "", rueidisstream.ErrShape},
		{"_\r\n", "", rueidis.Nil},
	} {
		var got []string
		var last error
		for p, err := range one(t, row.in).Pairs() {
			if last = err; err == nil {
				got = append(got, p.Key.String()+"="+p.Value.String())
			}
		}
		require.Equal(t, row.want, strings.Join(got, " "), row.in)
		require.ErrorIs(t, last, row.err, row.in)
	}
	for _, in := range []string{":1\r\n", "$1\r\na\r\n"} {
		for _, err := range one(t, in).Values() {
			require.ErrorIs(t, err, rueidisstream.ErrShape)
		}
	}
	for _, err := range one(t, "_\r\n").Values() {
		require.Equal(t, error(rueidis.Nil), err)
	}
	for range one(t, "*2\r\n:1\r\n:2\r\n").Values() {
		break
	}
	for range one(t, "*2\r\n:1\r\n:2\r\n").Pairs() {
		break
	}
	for range one(t, "*2\r\n*2\r\n:1\r\n:2\r\n*2\r\n:1\r\n:2\r\n").Pairs() {
		break
	}
}

func TestKind(t *testing.T) {
	names := map[string]bool{}
	for _, k := range []rueidisstream.Kind{
		rueidisstream.KindString, rueidisstream.KindSimple, rueidisstream.KindVerbatim, rueidisstream.KindInteger, rueidisstream.KindDouble,
		rueidisstream.KindBigNumber, rueidisstream.KindBool, rueidisstream.KindNull, rueidisstream.KindError, rueidisstream.KindBlobError,
		rueidisstream.KindArray, rueidisstream.KindSet, rueidisstream.KindMap,
	} {
		require.NotEqual(t, "invalid", k.String())
		names[k.String()] = true
	}
	require.Len(t, names, 13)
	require.Equal(t, "invalid", rueidisstream.Kind(0).String())
	require.True(t, rueidisstream.KindMap.IsAggregate())
	require.False(t, rueidisstream.KindString.IsAggregate())
}
