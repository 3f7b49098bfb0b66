package write

import (
	"os"
	"testing"

	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

func TestMain(m *testing.M) {
	fakebucket.Env(func(key, value string) { _ = os.Setenv(key, value) }) // cannot fail for these names
	os.Exit(m.Run())
}
