package snapshot

import (
	"bytes"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/store/local/part"
)

// FuzzEntry checks that whatever is taken for an entry is written as it was read, and that
// nothing is read beyond what is there.
func FuzzEntry(f *testing.F) {
	f.Add(appendEntry(nil, []byte("key"), 7, []byte("value")))
	f.Add(appendEntry(appendEntry(nil, []byte("k"), 1, nil), []byte("l"), 1<<63, make([]byte, 1000)))
	f.Add([]byte{})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Fuzz(func(t *testing.T, b []byte) {
		for len(b) > 0 {
			key, version, value, rest, err := cutEntry(b)
			if err != nil {
				return
			}
			if len(key) == 0 || len(key) > maxKey || version == 0 {
				t.Errorf("got key %x of version %d, want neither to be empty", key, version)
			}
			again := appendEntry(nil, key, version, value)
			k, ver, val, left, err := cutEntry(again)
			if err != nil || ver != version || len(left) > 0 || !bytes.Equal(k, key) || !bytes.Equal(val, value) {
				t.Errorf("%x is read as %x, and that otherwise: %v", b, again, err)
			}
			b = rest
		}
	})
}

// No entry of a backup may get out of its directory, or into a file that is not a partition's.
func TestNames(t *testing.T) {
	for name, want := range map[string]bool{"000001.sst": true, "MANIFEST": true, "COMMITS": true, "CLEAN": true, "..": false, ".": false,
		"a/b": false, "../x": false, "": false, ".hidden": false, "LOCK": false, "SHA256SUMS": false, "CLEAN.tmp": false, strings.Repeat("a", 100): false} {
		if got := backupFile(name); got != want {
			t.Errorf("file %q: got %v, want %v", name, got, want)
		}
	}
	for name, want := range map[string]bool{"20261121T12": true, "20261121T1230": true, "20261121.hours": false, "202611.days": false,
		"..": false, "20261121T12/..": false, "20261121T12.corrupt": false, "20261121.hours.sums": false} {
		if _, got := part.ParseName(name); got != want {
			t.Errorf("partition %q: got %v, want %v", name, got, want)
		}
	}
}
