package rollout

import (
	"cmp"
	"strings"
)

// CompareVersions sorts versions in their natural order: 1.9.0, 1.10.0-rc.2, 1.10.0. Numbers in
// versions are compared as numbers, everything else as text. A version with a suffix that begins
// with a hyphen comes before the version without it.
func CompareVersions(a, b string) int {
	full, other := a, b
	for a != "" && b != "" {
		x, y := leading(a), leading(b)
		a, b = a[len(x):], b[len(y):]
		if c := compareParts(x, y); c != 0 {
			switch { // 1.10-rc.2 and 1.10.1
			case x[0] == '-' && y[0] != '-':
				return -1
			case y[0] == '-' && x[0] != '-':
				return 1
			}
			return c
		}
	}
	switch {
	case strings.HasPrefix(a, "-"):
		return -1
	case strings.HasPrefix(b, "-"):
		return 1
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(full, other))
}

// leading returns the leading number of a version, or the text before its first number.
func leading(v string) string {
	n := 1
	for n < len(v) && isDigit(v[n]) == isDigit(v[0]) {
		n++
	}
	return v[:n]
}

func compareParts(x, y string) int {
	if !isDigit(x[0]) || !isDigit(y[0]) {
		return strings.Compare(x, y)
	}
	x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
	return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y))
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
