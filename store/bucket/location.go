package bucket

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Location is the location of objects in a bucket.
type Location struct {
	Bucket string
	Prefix string // "" or ends with a slash

	// Endpoint is the address of a store. If it is "", the environment (AWS_ENDPOINT_URL)
	// determines it, or else Amazon's endpoint of the region is used.
	Endpoint string
	Region   string // "" for the region of the environment (AWS_REGION)
}

// validBucket matches the names that all stores allow, see
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html.
var validBucket = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

// maxPrefix bounds the prefix, because a key may have at most 1,024 bytes.
const maxPrefix = 512

// IsLocation reports whether s denotes a bucket, that is, starts with s3://.
func IsLocation(s string) bool { return strings.HasPrefix(s, "s3://") }

// ParseLocation parses s3://BUCKET/PREFIX?endpoint=URL&region=NAME. The prefix and the parameters
// are optional.
func ParseLocation(s string) (Location, error) {
	fail := func(format string, args ...any) (Location, error) {
		shown, _, _ := strings.Cut(s, "?")
		return Location{}, fmt.Errorf("parse %q: "+format, append([]any{redact(shown)}, args...)...)
	}
	u, err := url.Parse(s)
	switch {
	case err != nil:
		// The text may contain a password.
		return Location{}, fmt.Errorf("parse the location of a bucket: %w", err.(*url.Error).Err)
	case u.Scheme != "s3":
		return fail("it is not s3://BUCKET/PREFIX")
	case u.User != nil:
		return fail("access keys must not be in a location, where others see them; use AWS_ACCESS_KEY_ID and " +
			"AWS_SECRET_ACCESS_KEY, or a profile")
	case !validBucket.MatchString(u.Host):
		return fail("%q is not a valid bucket name: 3 to 63 characters of a-z, 0-9, - and .", u.Host)
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
		return fail("a part of the prefix is . or .., which stores interpret differently")
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
			if e, err := url.Parse(value); err != nil || e.Scheme != "http" && e.Scheme != "https" || e.Host == "" ||
				e.User != nil {
				return fail("endpoint: %q is not http://HOST or https://HOST", redact(value))
			}
			l.Endpoint = value
		default:
			return fail("unknown parameter %q; the parameters are endpoint and region", name)
		}
	}
	return l, nil
}

// String returns the location without its parameters.
func (l Location) String() string {
	return "s3://" + l.Bucket + "/" + l.Prefix
}

// redact removes a possible password from the text of a URL.
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
