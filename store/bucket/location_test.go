package bucket_test

import (
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/store/bucket"
)

func TestParseLocation(t *testing.T) {
	for _, c := range []struct {
		in   string
		want bucket.Location
	}{
		{"s3://traces", bucket.Location{Bucket: "traces"}},
		{"s3://traces/", bucket.Location{Bucket: "traces"}},
		{"s3://my.traces-1/a/b/", bucket.Location{Bucket: "my.traces-1", Prefix: "a/b/"}},
		{"s3://traces/a?region=eu-west-1&endpoint=http://127.0.0.1:7070", bucket.Location{Bucket: "traces",
			Prefix: "a/", Region: "eu-west-1", Endpoint: "http://127.0.0.1:7070"}},
	} {
		if got, err := bucket.ParseLocation(c.in); err != nil || got != c.want {
			t.Errorf("%s: got %+v, %v", c.in, got, err)
		}
	}
	for _, c := range []struct{ in, want string }{
		{"gs://traces", "not s3://"},
		{"s3://", "is not a valid bucket name"},
		{"s3:///a", "is not a valid bucket name"},
		{"s3://Traces", "is not a valid bucket name"},
		{"s3://tra ces", "invalid character"},
		{"s3://key:secret@traces/a", "access keys must not be in a location"},
		{"s3://traces/a//b", "a part of it is empty"},
		{"s3://traces/" + strings.Repeat("a", 600), "longer than 512 bytes"},
		{"s3://traces/a#b", "fragment"},
		{"s3://traces/a?acl=public", `unknown parameter "acl"`},
		{"s3://traces/a?endpoint=127.0.0.1:7070", "is not http://HOST"},
		{"s3://traces/a?endpoint=http://k:secret@h", "is not http://HOST"},
		{"s3://traces/a?region=%zz", "invalid URL escape"},
	} {
		_, err := bucket.ParseLocation(c.in)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got %v, want %q", c.in, err, c.want)
		}
	}
}
