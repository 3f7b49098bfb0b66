package demo

import (
	"compress/gzip"
	"embed"
	"encoding/json"
	"fmt"
	"path"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/symbols/sourcemap"
	"github.com/fieldtrie/fieldtrie/trie"
)

// recordings has the output of test/shop/record.js: a file for each release of the shop.
//
//go:embed recordings/*.json.gz
var recordings embed.FS

// release is a recorded release of the shop.
type release struct {
	Release string `json:"release"`
	Path    string `json:"path"` // of its script
	Script  string `json:"script"`
	Map     string `json:"map"` // of its script, to the sources
	Visits  []*visit
	table   *symbols.Table // of its script
}

// url returns the address of its script.
func (r *release) url() string { return origin + r.Path }

// visit is the data that the browser script sent for one visit to a page.
type visit struct {
	Page     string               `json:"page"`
	Sent     [][]byte             `json:"traces"`
	Vitals   map[string]float64   `json:"vitals"`
	Elements map[string]string    `json:"elements"` // by Web Vital
	Parts    map[string][]float64 `json:"parts"`    // of the vitals, in ms
	release  int                  // its index
	traces   []*trie.Trace
	steps    []step // of all traces, in order of time
}

// readReleases reads the recordings, the oldest release first.
func readReleases() ([]*release, error) {
	entries, err := recordings.ReadDir("recordings")
	if err != nil {
		return nil, err
	}
	var out []*release
	for _, e := range entries {
		r, err := readRelease(path.Join("recordings", e.Name()))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		out = append(out, r)
	}
	return out, nil
}

func readRelease(name string) (*release, error) {
	f, err := recordings.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	r := &release{}
	if err := json.NewDecoder(z).Decode(r); err != nil {
		return nil, err
	}
	for _, v := range r.Visits {
		for _, data := range v.Sent {
			doc, err := encode.DecodeBinary(data, encode.Limits{})
			if err != nil {
				return nil, err
			}
			v.traces = append(v.traces, doc.Trace)
		}
	}
	m, err := sourcemap.Read([]byte(r.Map), sourcemap.DefaultLimits())
	if err != nil {
		return nil, err
	}
	r.table, _, err = symbols.Make([]byte(r.Script), m)
	return r, err
}
