package layout

import (
	"os"
	"testing"

	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

func TestMain(m *testing.M) {
	fakebucket.Env(func(key, value string) { _ = os.Setenv(key, value) }) // the directories of a test are always writable
	os.Exit(m.Run())
}
