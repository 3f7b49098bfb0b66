package rollup_test

import (
	"fmt"
	"log"
	"os"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// A page view is added to the sums of a page.
func Example() {
	data, err := os.ReadFile("../../testdata/format/v1/full.ftr")
	if err != nil {
		log.Fatal(err)
	}
	document, err := encode.DecodeBinary(data, encode.FileLimits())
	if err != nil {
		log.Fatal(err)
	}
	b := rollup.NewBuilder("/results", trie.New(), rollup.Limits{})
	b.Begin(1)
	b.Add(document.Trace)
	b.End()
	record, err := b.Record()
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range record.Distributions {
		fmt.Println(d.Labels, d.Time.Sum/1000, "ms")
	}
	// Output:
	// [{device low} {environment production} {phase load} {release 2026.11.3}] 180 ms
	// [{device low} {environment production} {feature search} {release 2026.11.3}] 14 ms
	// [{device low} {environment production} {feature typing} {release 2026.11.3}] 64 ms
	// [{device low} {environment production} {release 2026.11.3}] 180 ms
}
