package rueidisstream

import (
	"crypto/rand"
	"strconv"

	"github.com/redis/rueidis"
)

// tempKey returns the name of a key that nobody else uses and that is in the same cluster slot as key. It begins with key, if key
// has a hash tag, and else with key in braces, so that it stays near key for whoever looks, and for patterns in access lists.
func tempKey(client rueidis.Client, key string) string {
	unique := ":rueidisx:" + rand.Text() // 128 bits at least
	cmd := client.B().Arbitrary("APPEND").Build()
	slot := func(k string) uint16 {
		c := cmd.SetSlot(k)
		return c.Slot()
	}
	want := slot(key)
	for _, k := range []string{key + unique, "{" + key + "}" + unique} {
		if slot(k) == want {
			return k
		}
	}
	// Without a hash tag, and in braces none: it is empty or holds "}". All of the name is hashed then, and one in 16,384 fits.
	for i := 0; ; i++ {
		if k := key + unique + strconv.Itoa(i); slot(k) == want {
			return k
		}
	}
}
