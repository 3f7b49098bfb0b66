package main

import (
	"context"
	"io/fs"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
	"github.com/fieldtrie/fieldtrie/test/freeaddr"
	"github.com/fieldtrie/fieldtrie/test/programs"
)

// serveBucket starts a fake object store and returns a value of --data for it.
func serveBucket(t testing.TB) (data string, c *fakebucket.Client) {
	t.Helper()
	c = fakebucket.New(1).Client()
	srv := httptest.NewServer(c)
	t.Cleanup(srv.Close)
	return "s3://" + fakebucket.Name + "/p?" + url.Values{"endpoint": {srv.URL}, "region": {"r"}}.Encode(), c
}

// TestBucketScripts runs scripts with a fake object store.
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
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"waitfor": waitFor, "get": get,
			"post": post, "object": object, "copyto": copyTo, "save": save},
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

// copyTo uploads the files of a directory to the bucket: copyto BUCKET DIR.
func copyTo(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: copyto BUCKET DIR")
	}
	b := ts.Value(clientKey{}).(*fakebucket.Client).Bucket(time.Now)
	dir := ts.MkAbs(args[1])
	ts.Check(filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || e.Name() == "LOCK" || e.Name() == "USED" {
			return err
		}
		key, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		_, err = b.Put(context.Background(), filepath.ToSlash(key), body, objects.Condition{})
		return err
	}))
}

// object damages or deletes the first object with a prefix: object damage|delete PREFIX.
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
	ts.Fatalf("no object under %s", args[1])
}
