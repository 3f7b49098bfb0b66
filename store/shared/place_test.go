package shared

import (
	"strings"
	"testing"
)

// A location of another kind is refused, and not taken for the name of a directory.
func TestCheckLocation(t *testing.T) {
	for location, want := range map[string]string{
		"d": "", "./d/": "", "/var/lib/d": "", "s3://bucket/d": "", "file:///d": "", "./gs://d": "", "a:b": "", "C:/d": "",
		"gs://bucket/d": "is neither a directory nor s3://", "azblob://d": "is neither", "S3://bucket/d": "is neither", "https://k:secret@h/d": "is neither", "s3:/bucket": "is neither",
		"s3://bucket/a/../d": "a part of the prefix is . or ..", "s3://b/d": "is no name of a bucket", "file://d": "it is not file:///DIR",
	} {
		err := CheckLocation(location)
		if want == "" != (err == nil) || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s: got %v, want an error with %q", location, err, want)
		}
	}
}
