package main

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the expected output of scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"upload": func() { os.Exit(start(time.Millisecond)) }})
}

// Each script has the folder dist, which esbuild built from a small program, and the command
// daemon, see fakeDaemon.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv(tokenVariable, "")
			env.Values[daemonKey] = &fakeDaemon{}
			return os.CopyFS(filepath.Join(env.WorkDir, "dist"), os.DirFS(filepath.Join("testdata", "shop")))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"daemon":   startDaemon,
			"requests": writeRequests,
		},
	})
}
