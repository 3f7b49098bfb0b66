package formats_test

import (
	"fmt"
	"io"
	"log"
	"os"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/encode/formats"
	"github.com/fieldtrie/fieldtrie/encode/output"
)

// A trace of the JS Self-Profiling API becomes a profile for go tool pprof.
func Example() {
	f, err := os.Open("../../testdata/traces/backbone.json.gz")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	document, err := formats.Decode(f, encode.FileLimits())
	if err != nil {
		log.Fatal(err)
	}
	pprof, err := formats.Writer("pprof")
	if err != nil {
		log.Fatal(err)
	}
	p := document.Trace.Profile()
	if err := pprof.Encode(io.Discard, p, output.Options{}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(p.Functions()), "functions in", pprof.About)
	// Output:
	// 144 functions in gzipped pprof, for go tool pprof and every viewer of it
}
