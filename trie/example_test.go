package trie_test

import (
	"fmt"
	"log"
	"maps"
	"os"
	"path"
	"slices"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/encode/formats"
	"github.com/fieldtrie/fieldtrie/trie"
)

// readTrace reads a recording of one browser, in any format.
func readTrace(name string) *trie.Trace {
	f, err := os.Open(name)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	document, err := formats.Decode(f, encode.FileLimits())
	if err != nil {
		log.Fatal(err)
	}
	return document.Trace
}

// The functions with the most self time in two files.
func ExampleMerge() {
	a := readTrace("../testdata/traces/backbone.json.gz")
	b := readTrace("../testdata/traces/angular-complex.json.gz")
	p := trie.Merge(a.Profile(), b.Profile())
	for _, f := range p.Functions()[:3] {
		fmt.Printf("%4d ms  %s\n", f.Self/1000, path.Base(f.String()))
	}
	// Output:
	//  116 ms  jquery.min.js:2:50632
	//  111 ms  polyfills.35f89f9aebee2e5c.js:1:11551
	//   80 ms  benchmark-runner.mjs:146:13
}

// The time of each page and of its features, in a trace with spans.
func ExampleByPage() {
	t := readTrace("../testdata/format/v1/full.ftr")
	pages := trie.ByPage(t)
	for _, page := range slices.Sorted(maps.Keys(pages)) {
		for _, g := range pages[page].Groups {
			self, _ := g.Sum()
			fmt.Printf("%s %v: %d µs\n", page, g.Labels, self)
		}
	}
	// Output:
	// /feed []: 20500 µs
	// /feed [{feature typing}]: 15500 µs
	// /results []: 115500 µs
	// /results [{feature search} {feature typing}]: 14500 µs
	// /results [{feature typing}]: 50000 µs
}
