package roll

import (
	"os"
	"testing"

	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

func TestMain(m *testing.M) {
	fakebucket.Env(func(key, value string) { _ = os.Setenv(key, value) }) // that of a test can always be set
	os.Exit(m.Run())
}
