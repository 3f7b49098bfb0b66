package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/query/api"

	"github.com/klauspost/compress/gzip"

	"github.com/fieldtrie/fieldtrie/query"
)

// treeRequests is how often a tree is requested.
const treeRequests = 200

// tree measures the call tree of all pages of a day over HTTP, pruned to 20,000 nodes, with
// everything open and in memory.
func (f *field) tree(ctx context.Context) ([]figure, error) {
	r, err := f.reader(ctx)
	if err != nil {
		return nil, err
	}
	h := api.Handler(query.Local{Reader: r}, api.Options{Now: f.clock})
	target := "/api/v1/tree?max_nodes=20000&since=" + f.now.Add(-24*time.Hour).UTC().Format(time.RFC3339)
	var walls []float64
	var last *httptest.ResponseRecorder
	for i := range treeRequests + 1 {
		last = httptest.NewRecorder()
		req := httptest.NewRequestWithContext(ctx, http.MethodGet, target, nil)
		req.Header.Set("Accept-Encoding", "gzip")
		begin := time.Now()
		h.ServeHTTP(last, req)
		if last.Code != http.StatusOK {
			return nil, fmt.Errorf("tree: status %d: %s", last.Code, last.Body)
		}
		if i > 0 {
			walls = append(walls, time.Since(begin).Seconds())
		}
	}
	size := last.Body.Len()
	z, err := gzip.NewReader(last.Body)
	if err != nil {
		return nil, fmt.Errorf("tree: %w", err)
	}
	var tree api.Tree
	if err := json.NewDecoder(z).Decode(&tree); err != nil {
		return nil, fmt.Errorf("tree: %w", err)
	}
	if w := tree.Stats.Warnings; len(w) > 0 {
		return nil, fmt.Errorf("the tree is not complete: %s", w[0])
	}
	return []figure{
		{"rollups/tree_p50_ms", median(walls) * 1000, "ms", ""},
		{"rollups/tree_p99_ms", percentile(walls, 0.99) * 1000, "ms", "<= 150"},
		{"rollups/tree_gz_kb", float64(size) / 1000, "kB", "<= 100"},
		{"rollups/tree_nodes", float64(len(tree.Label)), "nodes", ""},
	}, nil
}

// percentile returns the value below which a share q of v lies.
func percentile(v []float64, q float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[min(int(q*float64(len(v))), len(v)-1)]
}
