package rollups

import (
	"bytes"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/store"
)

// Whatever the bytes are, opening and reading them ends with damage or with what they say,
// and takes memory in proportion to them.
func FuzzOpen(f *testing.F) {
	data, _ := smallFile(f)
	f.Add(data)
	f.Add(data[:len(data)-trailerSize])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) { openAny(t, data) })
}

// FuzzIndex gives the index of a file the checksums that it should have, so that what reads
// it is reached.
func FuzzIndex(f *testing.F) {
	data, _ := smallFile(f)
	x, err := NewFile(bytes.NewReader(data), int64(len(data)), "x", nil)
	if err != nil {
		f.Fatal(err)
	}
	front := data[:x.size-x.indexn-trailerSize]
	f.Add(data[len(front) : len(data)-trailerSize])
	f.Fuzz(func(t *testing.T, index []byte) {
		end := trailer{identity: x.identity, index: uint64(len(front)), indexLength: uint32(len(index)),
			indexSum: x.checksum(place{kind: kindIndex}, index), header: uint32(x.header)}
		openAny(t, end.append(append(bytes.Clone(front), index...)))
	})
}

// openAny reads all of a file that may be anything.
func openAny(t *testing.T, data []byte) {
	file, err := NewFile(bytes.NewReader(data), int64(len(data)), "x", nil)
	if err != nil && !strings.Contains(err.Error(), "this program reads") { // a newer version is no damage
		wantDamage(t, err)
	}
	if err != nil {
		return
	}
	readAll(t, file)
	if err := file.Check(); err != nil {
		wantDamage(t, err)
	}
}

// FuzzDirectory reads anything as the directory of a run.
func FuzzDirectory(f *testing.F) {
	data, _ := smallFile(f)
	x, err := NewFile(bytes.NewReader(data), int64(len(data)), "x", nil)
	if err != nil {
		f.Fatal(err)
	}
	for _, r := range x.index.runs {
		f.Add(data[r.offset:][:r.directory], r.length)
	}
	f.Fuzz(func(t *testing.T, data []byte, length int64) {
		d, err := parseDirectory(data, length)
		if err != nil {
			wantDamage(t, err)
			return
		}
		again, err := parseDirectory(d.append(nil), d.locate(int64(len(d.append(nil)))))
		if err != nil || len(again.hours) != len(d.hours) {
			t.Fatalf("what was written can not be read: %v", err)
		}
	})
}

// FuzzCounts reads anything as a piece of a catalogue.
func FuzzCounts(f *testing.F) {
	data, _ := appendCounts(nil, []entry{{"/a", store.Tag{}, Count{Traces: 3, First: 1, Last: 2}}, {"/a", store.Tag{Key: "release", Value: "r1"}, Count{Traces: 2, First: 1, Last: 2}}, {"/b", store.Tag{}, Count{Traces: 1, First: 9, Last: 9}}})
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		var entries []entry
		err := eachCount(data, func(page string, t store.Tag, c Count) { entries = append(entries, entry{page, t, c}) })
		if err != nil {
			wantDamage(t, err)
			return
		}
		n := 0
		for left := entries; len(left) > 0; {
			data, left = appendCounts(nil, left)
			err := eachCount(data, func(page string, t store.Tag, c Count) {
				if entries[n] == (entry{page, t, c}) {
					n++
				}
			})
			if err != nil {
				t.Fatalf("what was written can not be read: %v", err)
			}
		}
		if n != len(entries) {
			t.Fatalf("got %d entries back, want %d", n, len(entries))
		}
	})
}
