package main

import (
	"context"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
	"github.com/fieldtrie/fieldtrie/test/freeaddr"
	"github.com/fieldtrie/fieldtrie/test/programs"
)

// serveBucket starts a store of objects, and returns what --data says of it.
func serveBucket(t testing.TB) (data string, c *fakebucket.Client) {
	t.Helper()
	c = fakebucket.New(1).Client()
	srv := httptest.NewServer(c)
	t.Cleanup(srv.Close)
	return "s3://" + fakebucket.Name + "/p?" + url.Values{"endpoint": {srv.URL}, "region": {"r"}}.Encode(), c
}

// TestBucketScripts runs scripts beside a store of objects.
func TestBucketScripts(t *testing.T) {
	traces, err := filepath.Abs("../../testdata/traces")
	if err != nil {
		t.Fatal(err)
	}
	aggregate := programs.Path(t, "aggregate")
	fakebucket.Env(t.Setenv)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/bucket",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"waitfor": waitFor, "post": post, "object": object},
		Setup: func(env *testscript.Env) error {
			fakebucket.Env(env.Setenv)
			data, c := serveBucket(t)
			env.Values[clientKey{}] = c
			env.Setenv("BUCKET", data)
			env.Setenv("TRACES", traces)
			env.Setenv("AGGREGATE", aggregate)
			env.Setenv("PUBLIC", freeaddr.Of(t))
			env.Setenv("PRIVATE", freeaddr.Of(t))
			return nil
		},
	})
}

type clientKey struct{}

// object damages or deletes the first object of a kind: object damage|delete PREFIX.
func object(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: object damage|delete PREFIX")
	}
	ctx := context.Background()
	b := ts.Value(clientKey{}).(*fakebucket.Client).Bucket(time.Now)
	for e, err := range b.List(ctx, args[1], "") {
		ts.Check(err)
		if args[0] == "delete" {
			ts.Check(b.Delete(ctx, e.Key))
			return
		}
		got, err := b.Get(ctx, e.Key, 1<<30, "")
		ts.Check(err)
		got.Body[len(got.Body)/3] ^= 1
		_, err = b.Put(ctx, e.Key, got.Body, objects.Condition{})
		ts.Check(err)
		return
	}
	ts.Fatalf("there is nothing under %s", args[1])
}
