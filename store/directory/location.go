package directory

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
)

const scheme = "file://"

// IsLocation reports whether s denotes a directory, that is, starts with file://.
func IsLocation(s string) bool { return strings.HasPrefix(s, scheme) }

// ParseLocation parses file:///DIR, and returns the path.
func ParseLocation(s string) (path string, err error) {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return "", fmt.Errorf("parse the location of a directory: %w", err)
	case u.Scheme != "file" || u.Host != "" || !filepath.IsAbs(u.Path) || u.RawQuery != "" || u.Fragment != "" ||
		u.User != nil:
		return "", fmt.Errorf("parse %q: it is not file:///DIR with the absolute path of a directory", s)
	case filepath.Clean(u.Path) == "/":
		return "", fmt.Errorf("parse %q: this is the root of the file system", s)
	}
	return filepath.Clean(u.Path), nil
}
