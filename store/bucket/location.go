package bucket

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Location says where objects are.
type Location struct {
	Bucket string
	Prefix string // "" or ends with a slash

	// Endpoint is the address of a store that is not Amazon's; "" is what the environment says
	// (AWS_ENDPOINT_URL), else Amazon's of the region.
	Endpoint string
	Region   string // "" is what the environment says (AWS_REGION)
}

// validBucket is what all stores allow, see
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html.
var validBucket = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

// maxPrefix leaves room for the names of objects: a key has 1,024 bytes at most.
const maxPrefix = 512

// IsLocation reports whether a text means a bucket, and not a directory.
func IsLocation(s string) bool { return strings.HasPrefix(s, "s3://") }

// ParseLocation reads s3://BUCKET/PREFIX?endpoint=URL&region=NAME, of which the prefix and what is
// behind it may be missing.
func ParseLocation(s string) (Location, error) {
	fail := func(format string, args ...any) (Location, error) {
		shown, _, _ := strings.Cut(s, "?")
		return Location{}, fmt.Errorf("read %q: "+format, append([]any{redact(shown)}, args...)...)
	}
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return Location{}, fmt.Errorf("read the location of a bucket: %w", err.(*url.Error).Err) // the text may have a password
	case u.Scheme != "s3":
		return fail("it is not s3://BUCKET/PREFIX")
	case u.User != nil:
		return fail("keys do not belong there, where others see them; use AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile")
	case !validBucket.MatchString(u.Host):
		return fail("%q is no name of a bucket: 3 to 63 of a-z, 0-9, - and .", u.Host)
	case u.Fragment != "":
		return fail("it ends with a fragment, #%s", u.Fragment)
	}
	l := Location{Bucket: u.Host, Prefix: strings.Trim(u.Path, "/")}
	if l.Prefix != "" {
		l.Prefix += "/"
	}
	if len(l.Prefix) > maxPrefix || strings.Contains(l.Prefix, "//") {
		return fail("the prefix is longer than %d bytes, or a part of it is empty", maxPrefix)
	}
	if parts := strings.Split(l.Prefix, "/"); slices.Contains(parts, ".") || slices.Contains(parts, "..") {
		return fail("a part of the prefix is . or .., which stores understand differently")
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return fail("%w", err)
	}
	for name, values := range query {
		switch value := values[len(values)-1]; name {
		case "region":
			l.Region = value
		case "endpoint":
			if e, err := url.Parse(value); err != nil || e.Scheme != "http" && e.Scheme != "https" || e.Host == "" || e.User != nil {
				return fail("endpoint: %q is not http://HOST or https://HOST", redact(value))
			}
			l.Endpoint = value
		default:
			return fail("%q is not known; it may have endpoint and region", name)
		}
	}
	return l, nil
}

// String returns the location without what is behind the prefix.
func (l Location) String() string {
	return "s3://" + l.Bucket + "/" + l.Prefix
}

// redact takes what may be a password out of the text of a URL.
func redact(s string) string {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok {
		return s
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = "***" + rest[i:]
	}
	return scheme + "://" + rest
}
