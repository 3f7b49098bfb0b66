package record

import (
	"fmt"

	"github.com/fieldtrie/fieldtrie/store"
)

// AppendVitalsKey appends the key of the Web Vitals of the page views of page with a set of labels.
func AppendVitalsKey(dst []byte, page string, set store.LabelSet) []byte {
	return append(AppendPageKey(dst, KindVitals, page), set[:]...)
}

// AppendVitals appends crc32c u32 (of key and the rest) │ vitals as the package rollup writes them.
func AppendVitals(dst, key, vitals []byte) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	return SumInto(append(dst, vitals...), start, key)
}

// ParseVitals is the reverse of AppendVitals. What it returns is a part of b. An error wraps
// [store.ErrDamaged].
func ParseVitals(key, b []byte) (vitals []byte, err error) {
	if len(b) < 4 || !SumOK(key, b) {
		return nil, fmt.Errorf("%w web vitals", store.ErrDamaged)
	}
	return b[4:], nil
}
