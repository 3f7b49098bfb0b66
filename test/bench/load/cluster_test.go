package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestCluster kills and stops daemons on one bucket, and kills the store, while traces arrive.
// OBJECT_STORE is the store's program, versitygw or minio.
func TestCluster(t *testing.T) {
	store := os.Getenv("OBJECT_STORE")
	if store == "" {
		t.Skip("OBJECT_STORE names no store; make test-cluster installs one")
	}
	t.Parallel()
	name := filepath.Join(t.TempDir(), "report.json")
	var out, log bytes.Buffer
	args := []string{"--store", store, "--nodes", "3", "--spool", "--rate", "200", "--for", "22s", "--connections",
		"256", "--repeat", "0.05", "--retry", "--stall", "1m",
		"--kill-every", "1s", "--pause-every", "6s", "--pause-for", "5s", "--store-down-at", "12s",
		"--store-down-for", "3s",
		"--json-report", name, traces, "--", "--roll-every", "1s", "--take-over", "3s"}
	if err := run(t.Context(), args, &out, &log); err != nil {
		t.Fatalf("%v\n%s%s", err, &out, &log)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	if r.Kills < 5 || r.Pauses == 0 || r.StoreDownSeconds < 3 || !r.Verified || r.Stored < 3000 ||
		r.EverywherePages == 0 {
		t.Errorf("%+v", r)
	}
	t.Logf("\n%s", &out)
}

func TestClusterUsage(t *testing.T) {
	var out bytes.Buffer
	for _, args := range [][]string{
		{"--nodes", "3"},
		{"--nodes", "0"},
		{"--store", "s3rver"},
		{"--store", "versitygw", "--data", "s3://a/b"},
		{"--store-down-for", "1s"},
		{"--addr", "127.0.0.1:1", "--store", "versitygw"},
		{"--addr", "127.0.0.1:1,127.0.0.1:2", "--query-addr", "127.0.0.1:3"},
		{"--addr", "127.0.0.1:1", "--pause-every", "1s"},
	} {
		if err := run(t.Context(), args, &out, &out); exitCode(err) != 2 {
			t.Errorf("%q: %v", args, err)
		}
	}
}
