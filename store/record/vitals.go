package record

import "fmt"

// LabelSet names a set of labels: a part of a hash of them.
type LabelSet [12]byte

// AppendVitalsKey appends the key of the Web Vitals of the page views of page with a set of labels.
func AppendVitalsKey(dst []byte, page string, set LabelSet) []byte {
	return append(AppendPageKey(dst, KindVitals, page), set[:]...)
}

// AppendVitals appends crc32c u32 (of key and the rest) │ vitals as the package rollup writes them.
func AppendVitals(dst, key, vitals []byte) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	return SumInto(append(dst, vitals...), start, key)
}

// ParseVitals is the reverse of AppendVitals. What it returns is a part of b. An error wraps
// [ErrDamaged].
func ParseVitals(key, b []byte) (vitals []byte, err error) {
	if len(b) < 4 || !SumOK(key, b) {
		return nil, fmt.Errorf("%w web vitals", ErrDamaged)
	}
	return b[4:], nil
}
