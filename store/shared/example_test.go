package shared_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/shared"
	"github.com/fieldtrie/fieldtrie/trie"
)

// fill stores a trace in a directory, as a daemon does.
func fill(dir string) error {
	ctx := context.Background()
	payload, err := os.ReadFile("../../testdata/format/v1/full.ftr")
	if err != nil {
		return err
	}
	place, err := shared.OpenPlace(ctx, dir, shared.PlaceOptions{})
	if err != nil {
		return err
	}
	defer place.(io.Closer).Close()
	node, err := shared.Open(ctx, place, shared.Options{})
	if err != nil {
		return err
	}
	record := store.Record{ID: store.ID{View: [16]byte{1}}, Pages: []string{"/feed", "/results"}, Payload: payload}
	if _, err := node.Append(ctx, []store.Record{record}); err != nil {
		return err
	}
	return node.Close(ctx)
}

// OpenReader reads the traces of a page that a daemon has stored, in a directory or in a bucket
// such as s3://bucket/prefix. The daemon may be running.
func ExampleOpenReader() {
	dir, err := os.MkdirTemp("", "data")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	location := filepath.Join(dir, "data")
	if err := fill(location); err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	place, err := shared.OpenPlace(ctx, location, shared.PlaceOptions{ReadOnly: true})
	if err != nil {
		log.Fatal(err)
	}
	reader, err := shared.OpenReader(ctx, place, shared.Options{})
	if err != nil {
		log.Fatal(err)
	}
	merger := trie.NewMerger()
	query := store.Query{Page: "/results", Since: time.Now().Add(-24 * time.Hour)}
	stats, err := reader.Scan(ctx, query, func(r store.Record) error {
		document, err := encode.DecodeBinary(r.Payload, encode.Limits{})
		if err != nil {
			return err
		}
		merger.AddProfile(trie.ByPage(document.Trace)["/results"])
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(stats.Traces, "trace")
	fmt.Println(merger.Profile().Functions()[0].Frame)
	// Output:
	// 1 trace
	// render https://example.com/app.js:12:3
}
