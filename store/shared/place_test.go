package shared

import (
	"strings"
	"testing"
)

// A location of an unsupported kind is rejected, rather than used as the name of a directory.
func TestCheckLocation(t *testing.T) {
	for location, want := range map[string]string{
		"d": "", "./d/": "", "/var/lib/d": "", "s3://bucket/d": "", "file:///d": "", "./gs://d": "", "a:b": "",
		"C:/d":          "",
		"gs://bucket/d": "is not a directory or s3://", "azblob://d": "is not a directory",
		"S3://bucket/d": "is not a directory", "https://k:secret@h/d": "is not a directory",
		"s3:/bucket":         "is not a directory",
		"s3://bucket/a/../d": "a part of the prefix is . or ..", "s3://b/d": "is not a valid bucket name",
		"file://d": "it is not file:///DIR",
	} {
		err := CheckLocation(location)
		if want == "" != (err == nil) || err != nil && (!strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s: got %v, want an error with %q", location, err, want)
		}
	}
}
