package rueidisbatch_test

import (
	"testing"

	"github.com/rueidisx/rueidisx/internal/redistest"
)

func TestMain(m *testing.M) { redistest.Main(m) }
