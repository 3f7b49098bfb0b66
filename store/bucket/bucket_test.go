package bucket_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fieldtrie/fieldtrie/store/bucket"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

func TestMain(m *testing.M) {
	fakebucket.Env(func(key, value string) { _ = os.Setenv(key, value) }) // cannot fail for these names
	os.Exit(m.Run())
}

func TestObjects(t *testing.T) {
	b := fakebucket.New(1).Client().Bucket(time.Now)
	ctx := t.Context()
	if _, err := b.Get(ctx, "a/1", 100, ""); !errors.Is(err, objects.ErrNotFound) || !strings.Contains(err.Error(),
		"s3://traces/p/a/1") {
		t.Fatalf("got %v", err)
	}
	body := bytes.Repeat([]byte("0123456789"), 100)
	tag, err := b.Put(ctx, "a/1", body, objects.Condition{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := b.Get(ctx, "a/1", 1000, "")
	if err != nil || !bytes.Equal(got.Body, body) || got.Tag != tag {
		t.Fatalf("got %v, %v", got, err)
	}
	if got, err := b.Get(ctx, "a/1", 1000, tag); err != nil || got != nil {
		t.Errorf("got %v, %v, want nothing new", got, err)
	}
	if _, err := b.Get(ctx, "a/1", 999, ""); err == nil || !strings.Contains(err.Error(), "1000 bytes") {
		t.Errorf("got %v", err)
	}
	for _, c := range []struct {
		offset, n int64
		want      string
	}{{0, 3, "012"}, {995, 5, "56789"}, {-3, 0, "789"}, {-2000, 0, string(body)}} {
		got, size, err := b.Range(ctx, "a/1", c.offset, c.n)
		if err != nil || string(got) != c.want || size != 1000 {
			t.Errorf("range %d %d: got %.20q of %d, %v", c.offset, c.n, got, size, err)
		}
	}
	if _, _, err := b.Range(ctx, "a/1", 998, 5); err == nil {
		t.Error("a range beyond the end is returned in part")
	}
	for i := range 2500 {
		if _, err := b.Put(ctx, fmt.Sprintf("list/%04d", i), nil, objects.Absent); err != nil {
			t.Fatal(err)
		}
	}
	var keys []string
	for e, err := range b.List(ctx, "list/", "list/0009") {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, e.Key)
	}
	if len(keys) != 2490 || keys[0] != "list/0010" || keys[2489] != "list/2499" {
		t.Errorf("got %d keys from %s to %s", len(keys), keys[0], keys[len(keys)-1])
	}
	if err := b.Delete(ctx, append(keys[:500], "list/none")...); err != nil {
		t.Error(err)
	}
	if _, err := b.Get(ctx, "list/0010", 1, ""); !errors.Is(err, objects.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if err := b.Delete(ctx, keys[:1001]...); err == nil {
		t.Error("1001 keys are deleted in one call")
	}
}

// Of several concurrent puts with the same condition, exactly one succeeds.
func TestOneWins(t *testing.T) {
	s := fakebucket.New(1)
	var nodes []*bucket.Bucket
	for range 50 {
		nodes = append(nodes, s.Client().Bucket(time.Now))
	}
	for round := range 20 {
		key := fmt.Sprint(round)
		won := race(func(i int) error {
			_, err := nodes[i].Put(t.Context(), key, []byte{byte(i)}, objects.Absent)
			return err
		}, 50)
		if won != 1 {
			t.Fatalf("%d of 50 created a new object", won)
		}
		old, err := nodes[0].Get(t.Context(), key, 1, "")
		if err != nil {
			t.Fatal(err)
		}
		won = race(func(i int) error {
			_, err := nodes[i].Put(t.Context(), key, []byte{byte(50 + i)}, objects.Is(old.Tag))
			return err
		}, 50)
		if won != 1 {
			t.Fatalf("%d of 50 changed an object", won)
		}
	}
}

// race calls f n times concurrently and returns how many calls succeeded. It panics on errors other
// than a lost race.
func race(f func(int) error, n int) int {
	var group sync.WaitGroup
	var won atomic.Int64
	for i := range n {
		group.Go(func() {
			if err := f(i); err == nil {
				won.Add(1)
			} else if !errors.Is(err, objects.ErrConflict) {
				panic(err)
			}
		})
	}
	group.Wait()
	return int(won.Load())
}

func TestProbe(t *testing.T) {
	for _, c := range []struct {
		name            string
		blind, unquoted bool
		want            error
	}{
		{"as Amazon's", false, false, nil},
		{"tags without quotes", false, true, nil},
		{"conditions ignored", true, false, bucket.ErrIgnoresConditions},
	} {
		s := fakebucket.New(1)
		s.Blind, s.Unquoted = c.blind, c.unquoted
		b := s.Client().Bucket(time.Now)
		err := b.Probe(t.Context())
		if !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
		if c.want == nil {
			tag, err := b.Put(t.Context(), "x", nil, objects.Absent)
			if err == nil {
				_, err = b.Put(t.Context(), "x", []byte("1"), objects.Is(tag))
			}
			if err != nil {
				t.Errorf("%s: afterwards: %v", c.name, err)
			}
		}
		for e := range b.List(t.Context(), "probe/", "") {
			t.Errorf("%s: %s is left behind", c.name, e.Key)
		}
	}
}

// The error for a missing permission names it.
func TestDenied(t *testing.T) {
	for kind, want := range map[string]string{"PUT": "s3:PutObject", "GET": "s3:GetObject", "LIST": "s3:ListBucket",
		"DELETE": "s3:DeleteObject"} {
		s := fakebucket.New(1)
		s.Denied = []string{kind}
		err := s.Client().Bucket(time.Now).Probe(t.Context())
		if err == nil || !strings.Contains(err.Error(), "needs the permission "+want) || !strings.Contains(err.Error(),
			"s3://traces/p/") {
			t.Errorf("%s: got %v", kind, err)
		}
	}
}

// Missing access keys, a missing bucket and an unreachable store are errors with this reason.
func TestUnreachable(t *testing.T) {
	open := func(at bucket.Location, o bucket.Options) error {
		o.Attempts = 1
		b, err := bucket.Open(t.Context(), at, o)
		if err != nil {
			return err
		}
		return b.Probe(t.Context())
	}
	at := bucket.Location{Bucket: "none", Endpoint: "http://127.0.0.1:1"}
	if err := open(at, bucket.Options{}); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("got %v", err)
	}
	if err := open(at, bucket.Options{Transport: fakebucket.New(1).Client()}); err == nil ||
		!strings.Contains(err.Error(), "create the bucket first") {
		t.Errorf("got %v", err)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	if err := open(at, bucket.Options{}); !errors.Is(err, bucket.ErrNoKeys) {
		t.Errorf("got %v", err)
	}
}

// A store that accepts requests and never responds, or stops in the middle of a response, does not
// block callers indefinitely.
func TestSilentStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakebucket.New(1)
		b := s.Client().Bucket(time.Now)
		if _, err := b.Put(t.Context(), "a", []byte("x"), objects.Condition{}); err != nil {
			t.Fatal(err)
		}
		s.Took = 1000 * time.Hour
		for name, call := range map[string]func(ctx context.Context) error{
			"put": func(ctx context.Context) error {
				_, err := b.Put(ctx, "b", []byte("x"), objects.Absent)
				return err
			},
			"get":   func(ctx context.Context) error { _, err := b.Get(ctx, "a", 10, ""); return err },
			"range": func(ctx context.Context) error { _, _, err := b.Range(ctx, "a", 0, 1); return err },
			"list": func(ctx context.Context) error {
				for _, err := range b.List(ctx, "", "") {
					return err
				}
				return nil
			},
			"delete": func(ctx context.Context) error { return b.Delete(ctx, "a") },
		} {
			begin := time.Now()
			err := call(t.Context())
			if took := time.Since(begin); err == nil || took > 5*time.Minute || !strings.Contains(err.Error(),
				"does not respond") {
				t.Errorf("%s: got %v after %v", name, err, took)
			}
		}
	})
}

// stalling responds with a part of a body.
type stalling struct{}

func (stalling) RoundTrip(r *http.Request) (*http.Response, error) {
	body := io.MultiReader(strings.NewReader("half"), blocked{r.Context()})
	return &http.Response{StatusCode: 200, ProtoMajor: 1, ProtoMinor: 1, Request: r, ContentLength: 8,
		Header: http.Header{"Content-Length": {"8"}}, Body: io.NopCloser(body)}, nil
}

type blocked struct{ ctx context.Context }

func (b blocked) Read([]byte) (int, error) {
	<-b.ctx.Done()
	return 0, b.ctx.Err()
}

func TestStallingStore(t *testing.T) {
	fakebucket.Env(t.Setenv)
	synctest.Test(t, func(t *testing.T) {
		b, err := bucket.Open(t.Context(), bucket.Location{Bucket: "b", Endpoint: "http://store.test", Region: "r"},
			bucket.Options{Transport: stalling{}})
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if _, err = b.Get(t.Context(), "a", 100, ""); err == nil || time.Since(begin) > 5*time.Minute {
			t.Errorf("got %v after %v", err, time.Since(begin))
		}
	})
}

// tearing truncates a list a number of times, as a proxy may do.
type tearing struct{ times *int }

func (x tearing) RoundTrip(r *http.Request) (*http.Response, error) {
	text := "<ListBucketResult><Contents><Key>a</Key><Size>3</Size></Contents><Contents><Key>b</Key></Contents></" +
		"ListBucketResult>"
	if *x.times--; *x.times >= 0 {
		text = text[:len(text)/2]
	}
	return &http.Response{StatusCode: 200, ProtoMajor: 1, ProtoMinor: 1, Request: r, ContentLength: int64(len(text)),
		Header: http.Header{}, Body: io.NopCloser(strings.NewReader(text))}, nil
}

// A truncated list is requested again, without duplicates. If it is never complete, List returns an
// error.
func TestTornList(t *testing.T) {
	for times, want := range map[int]string{0: "a b", 2: "a b", 9: ""} {
		left := times
		b, err := bucket.Open(t.Context(), bucket.Location{Bucket: "b", Endpoint: "http://store.test", Region: "r"},
			bucket.Options{Transport: tearing{&left}, Pause: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		var keys []string
		for e, lerr := range b.List(t.Context(), "", "") {
			if err = lerr; err == nil {
				keys = append(keys, e.Key)
			}
		}
		if got := strings.Join(keys, " "); got != want || (err == nil) != (want != "") {
			t.Errorf("truncated %d times: got %q, %v", times, got, err)
		}
	}
}

// refusing responds to all requests with an error.
type refusing struct {
	status int
	code   string
}

func (x refusing) RoundTrip(r *http.Request) (*http.Response, error) {
	text := "<Error><Code>" + x.code + "</Code><Message>m</Message></Error>"
	return &http.Response{StatusCode: x.status, ProtoMajor: 1, ProtoMinor: 1, Request: r,
			ContentLength: int64(len(text)),
			Header:        http.Header{"Content-Type": {"application/xml"}},
			Body:          io.NopCloser(strings.NewReader(text))},
		nil
}

// The error for a rejected request names the remedy, and is not a lost race.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		refusing
		want string
	}{
		{refusing{403, "RequestTimeTooSkewed"}, "is wrong; correct it"},
		{refusing{400, "ExpiredToken"}, "the credentials have expired"},
		{refusing{404, "XAdminUserNotFound"}, "XAdminUserNotFound"},
		{refusing{404, "NoSuchKey"}, "another writer was first"},
	} {
		b, err := bucket.Open(t.Context(), bucket.Location{Bucket: "b", Endpoint: "http://store.test", Region: "r"},
			bucket.Options{Transport: c.refusing})
		if err != nil {
			t.Fatal(err)
		}
		_, err = b.Put(t.Context(), "k", nil, objects.Is("x"))
		if err == nil || !strings.Contains(err.Error(), c.want) ||
			errors.Is(err, objects.ErrConflict) != (c.code == "NoSuchKey") {
			t.Errorf("%s: got %v", c.code, err)
		}
	}
}
