package encode_test

import (
	"fmt"
	"log"
	"os"

	"github.com/fieldtrie/fieldtrie/encode"
)

// A document in the binary format is decoded, and encoded to the same bytes.
func Example() {
	data, err := os.ReadFile("../testdata/format/v1/full.ftr")
	if err != nil {
		log.Fatal(err)
	}
	document, err := encode.DecodeBinary(data, encode.FileLimits())
	if err != nil {
		log.Fatal(err)
	}
	t := document.Trace
	fmt.Println(len(t.Samples), "samples,", t.Pages(), t.Context.Release)
	again, err := encode.EncodeTrace(t)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(again) == string(data))
	// Output:
	// 24 samples, [/feed /results] 2026.11.3
	// true
}
