// Command build makes the browser scripts in sdk/dist from sdk/src.
//
//	go run ./sdk/build [--check] [DIR]
//	go run ./sdk/build --minify FILE
//
// DIR is the folder of the SDK, by default sdk. With --check it writes nothing and fails
// if a script in dist is not that of the sources. With --minify it prints the named
// script as a site would deploy it, which a test of names needs.
package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

// output is one built script.
type output struct {
	file, entry string
	format      api.Format
}

// outputs are the scripts of the SDK: all of it and its core, each as a module and as a
// classic script, which defines the global fieldtrie.
var outputs = []output{
	{"fieldtrie.mjs", "index.js", api.FormatESModule},
	{"fieldtrie.js", "global.js", api.FormatIIFE},
	{"core.mjs", "core-index.js", api.FormatESModule},
	{"core.js", "core-global.js", api.FormatIIFE},
}

// internal are properties that neither browsers nor users of the SDK know, so they may
// have shorter names.
const internal = "^(viewId|interval|share|spans|chunk|known|draw)$"

func run(args []string, stdout io.Writer) error {
	fs := flag.NewFlagSet("build", flag.ContinueOnError)
	check := fs.Bool("check", false, "write nothing, fail if dist is not up to date")
	minify := fs.String("minify", "", "print this script minified")
	if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	if *minify != "" {
		script, err := bundle(api.BuildOptions{EntryPoints: []string{*minify}})
		if err != nil {
			return err
		}
		_, err = stdout.Write(script)
		return err
	}
	dir := cmp.Or(fs.Arg(0), "sdk")
	for _, o := range outputs {
		script, err := bundle(api.BuildOptions{
			EntryPoints: []string{filepath.Join(dir, "src", o.entry)},
			Format:      o.format,
		})
		if err != nil {
			return err
		}
		file := filepath.Join(dir, "dist", o.file)
		if *check {
			if old, err := os.ReadFile(file); err != nil || !bytes.Equal(old, script) {
				return fmt.Errorf("%s is not that of the sources; run make sdk and commit it", file)
			}
			continue
		}
		if err := os.WriteFile(file, script, 0o644); err != nil {
			return err
		}
		size, err := gzipped(script)
		if err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%-20s %6d bytes, %5d gzipped\n", o.file, len(script), size)
	}
	return nil
}

// bundle makes one minified script of an entry point and what it imports.
func bundle(o api.BuildOptions) ([]byte, error) {
	o.Bundle, o.MinifyWhitespace, o.MinifyIdentifiers, o.MinifySyntax = true, true, true, true
	o.Target = api.ES2022
	o.MangleProps = internal
	o.LogLevel = api.LogLevelSilent
	r := api.Build(o)
	if len(r.Errors) > 0 {
		return nil, fmt.Errorf("bundle %s: %s", o.EntryPoints[0], r.Errors[0].Text)
	}
	return r.OutputFiles[0].Contents, nil
}

// gzipped returns how many bytes data takes with gzip at its best level, as a server
// that compresses its files once does.
func gzipped(data []byte) (int, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return 0, err
	}
	_, err = z.Write(data)
	err = errors.Join(err, z.Close())
	return b.Len(), err
}
