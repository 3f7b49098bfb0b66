package docs_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/fieldtrie/fieldtrie/test/programs"
)

// named are the programs that the documentation is about.
var named = []string{"ingest", "aggregate", "upload"}

// bin is the folder where they are.
var bin string

func TestMain(m *testing.M) {
	dir, done, err := programs.Dir(named...)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	bin = dir
	code := m.Run()
	done()
	os.Exit(code)
}
