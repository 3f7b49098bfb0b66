package scripturl

import "strings"

// debugIDMark separates the URL of a script from its debug ID in a resource.
const debugIDMark = "#debugId="

// debugIDLength is the length of a UUID with its dashes.
const debugIDLength = 36

// CutDebugID removes the debug ID from a resource. A debug ID, see ECMA-426, identifies one build
// of a script wherever it is served; it is a UUID in lower case, with dashes. A resource without a
// debug ID is returned unchanged, with the ID "".
func CutDebugID(resource string) (url, id string) {
	at := len(resource) - debugIDLength
	if at < len(debugIDMark) || !isUUID(resource[at:]) || !strings.HasSuffix(resource[:at], debugIDMark) {
		return resource, ""
	}
	return resource[:at-len(debugIDMark)], resource[at:]
}

// WithDebugID is the inverse of [CutDebugID]. Without a URL there is no script to identify, and the
// result is "".
func WithDebugID(url, id string) string {
	if url == "" || id == "" {
		return url
	}
	return url + debugIDMark + id
}

// isUUID reports whether s is a UUID in lower case.
func isUUID(s string) bool {
	for i, c := range []byte(s) {
		switch dash := i == 8 || i == 13 || i == 18 || i == 23; {
		case dash != (c == '-'):
			return false
		case !dash && (c < '0' || c > '9') && (c < 'a' || c > 'f'):
			return false
		}
	}
	return len(s) == debugIDLength
}
