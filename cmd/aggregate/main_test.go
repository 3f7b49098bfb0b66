package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fieldtrie/fieldtrie/test/programs"
	"github.com/fieldtrie/fieldtrie/web"
)

var update = flag.Bool("update", false, "rewrite the expected output of scripts")

func TestMain(m *testing.M) {
	if args := os.Getenv(runMain); args != "" {
		os.Args = append([]string{"aggregate"}, strings.Fields(args)...)
		main()
	}
	testscript.Main(m, programs.Commands(map[string]func(){"aggregate": main}))
}

func TestScripts(t *testing.T) {
	traces, err := filepath.Abs("../../testdata/traces")
	if err != nil {
		t.Fatal(err)
	}
	enhanced, err := filepath.Abs("../../query/file/testdata/enhanced.json")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Condition: func(name string) (bool, error) {
			if name != "dashboard" {
				return false, fmt.Errorf("unknown condition %s", name)
			}
			_, err := web.ProfileFile()
			return err == nil, nil
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("TRACES", traces)
			env.Setenv("ENHANCED", enhanced)
			// go tool pprof needs the go command's own settings.
			for _, k := range []string{"GOCACHE", "GOPATH", "GOMODCACHE"} {
				env.Setenv(k, os.Getenv(k))
			}
			return nil
		},
	})
}
