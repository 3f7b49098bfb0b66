package former

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// fixture returns a file of the directory closed.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	f, err := os.Open("../testdata/closed.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err != nil {
			t.Fatalf("look for %s: %v", name, err)
		}
		if strings.TrimPrefix(h.Name, "./") == name {
			body, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			return body
		}
	}
}

func wantDamage(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, store.ErrDamaged) {
		t.Errorf("error %v does not wrap ErrDamaged", err)
	}
}

// nothing takes rollups.
type nothing struct{ records int }

func (n *nothing) AddOutcome(string, int64)             {}
func (n *nothing) AddVital(*rollup.Vital)               {}
func (n *nothing) AddRecord(*rollup.Record, *trie.Trie) { n.records++ }

func reader(t testing.TB) *sumsReader {
	t.Helper()
	r, err := newSumsReader()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// readSums reads all of a file of rollups that may be anything. It returns how many records there are.
func readSums(t *testing.T, data []byte) int {
	with := reader(t)
	defer with.dec.Close()
	f, err := newSumsFile(bytes.NewReader(data), int64(len(data)), "x", with)
	if err != nil {
		wantDamage(t, err)
		return 0
	}
	var to nothing
	for _, s := range f.sums {
		for _, page := range f.pages() {
			if err := f.addTo(page, s.start, &to); err != nil {
				wantDamage(t, err)
			}
		}
		if err := f.countsOf(s.start, func(string, store.Tag, Count) {}); err != nil {
			wantDamage(t, err)
		}
	}
	return to.records
}

const seedFile = "20261119.hours.sums"

// FuzzSums reads anything as a file of rollups.
func FuzzSums(f *testing.F) {
	data := fixture(f, seedFile)
	f.Add(data)
	f.Add(data[:len(data)-trailerSize])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) { readSums(t, data) })
}

// TestSums reads the file that the fuzz tests begin with.
func TestSums(t *testing.T) {
	if n := readSums(t, fixture(t, seedFile)); n < 20 {
		t.Errorf("it has %d records", n)
	}
	data := fixture(t, seedFile)
	for at := 0; at < len(data); at += 1000 {
		data := bytes.Clone(data)
		data[at] ^= 1
		readSums(t, data)
	}
}

// FuzzIndex gives the index of a file the checksums that it should have, so that what reads it is reached.
func FuzzIndex(f *testing.F) {
	data := fixture(f, seedFile)
	x, err := parseTrailer(data[len(data)-trailerSize:], int64(len(data)))
	if err != nil {
		f.Fatal(err)
	}
	front := data[:x.index]
	f.Add(data[x.index : len(data)-trailerSize])
	f.Fuzz(func(t *testing.T, index []byte) {
		end := binary.BigEndian.AppendUint64(nil, uint64(len(front)))
		end = binary.BigEndian.AppendUint32(end, uint32(len(index)))
		end = binary.BigEndian.AppendUint32(end, x.checksum(place{kind: ofIndex}, index))
		end = binary.BigEndian.AppendUint32(end, uint32(x.header))
		end = append(end, sumsVersion, x.span)
		end = binary.BigEndian.AppendUint32(end, x.start)
		end = binary.BigEndian.AppendUint32(end, crc32.Checksum(end, castagnoli))
		readSums(t, append(append(append(bytes.Clone(front), index...), end...), sumsMagic...))
	})
}

// FuzzDirectory reads anything as the directory of a run.
func FuzzDirectory(f *testing.F) {
	data := fixture(f, seedFile)
	with := reader(f)
	x, err := newSumsFile(bytes.NewReader(data), int64(len(data)), seedFile, with)
	if err != nil {
		f.Fatal(err)
	}
	for _, r := range x.runs {
		f.Add(data[r.offset:][:r.directory], r.length)
	}
	f.Fuzz(func(t *testing.T, data []byte, length int64) {
		d, err := parseDirectory(data, length)
		if err != nil {
			wantDamage(t, err)
			return
		}
		for _, h := range d.hours {
			for _, b := range h {
				if b.offset+int64(b.packed) > length {
					t.Errorf("a block ends at %d of %d", b.offset+int64(b.packed), length)
				}
			}
		}
	})
}

// FuzzCounts reads anything as a piece of a catalogue.
func FuzzCounts(f *testing.F) {
	f.Add([]byte("\x00\x02/a\x00\x00\x00\x00\x03\x02\x02\x02\x00\x00\x07release\x00\x02r1\x02\x00\x02"))
	f.Fuzz(func(t *testing.T, data []byte) {
		n := 0
		err := eachCount(data, func(string, store.Tag, Count) { n++ })
		if err != nil {
			wantDamage(t, err)
		}
		if n > len(data) {
			t.Errorf("%d bytes have %d counts", len(data), n)
		}
	})
}

// sumInto gives a value the checksum that it should have: a fuzzer does not guess it.
func sumInto(key, b []byte) {
	if len(b) >= 4 {
		binary.BigEndian.PutUint32(b, crc32.Update(crc32.Update(0, castagnoli, key), castagnoli, b[4:]))
	}
}

func compress(t testing.TB, text []byte, options ...zstd.EOption) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil, options...)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return w.EncodeAll(text, nil)
}

// FuzzValue reads anything as the value of a trace, under its key alone.
func FuzzValue(f *testing.F) {
	key := append(pageKey(kindTrace, "/feed"), make([]byte, idSize)...)
	for _, payload := range [][]byte{compress(f, []byte("payload")), compress(f, make([]byte, 2*maxPayload)), []byte("not zstd")} {
		f.Add(key, append([]byte{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, '/', 'a'}, payload...))
	}
	f.Add([]byte{}, []byte{})
	f.Fuzz(func(t *testing.T, key, b []byte) {
		if len(b) >= valueHead {
			sum := crc32.Update(crc32.Update(crc32.Update(0, castagnoli, key), castagnoli, b[:1]), castagnoli, b[5:])
			binary.BigEndian.PutUint32(b[1:], sum)
		}
		v, err := parseValue(key, b)
		if err != nil {
			wantDamage(t, err)
			return
		}
		if _, err := parseValue(append([]byte{'x'}, key...), b); err == nil {
			t.Error("a value is read under another key")
		}
		if len(v.others) >= store.MaxPages {
			t.Errorf("%d pages", len(v.others))
		}
		var h zstd.Header
		if h.Decode(v.compressed) == nil && h.DictionaryID != 0 {
			return
		}
		p := &payloads{}
		defer p.close()
		out, err := p.decompress(nil, v.compressed)
		if err != nil {
			wantDamage(t, err)
		}
		if len(out) > maxPayload {
			t.Errorf("a payload of %d bytes", len(out))
		}
	})
}

// FuzzKey reads anything as a key.
func FuzzKey(f *testing.F) {
	f.Add(append(pageKey(kindTrace, "/feed"), make([]byte, idSize)...))
	f.Add([]byte("c/feed\x00release\x00r1"))
	f.Add([]byte("c/feed\x00\x00"))
	f.Fuzz(func(t *testing.T, key []byte) {
		_, _ = parseID(key) // it must not end the process
		page, rest, err := pageOfKey(key)
		if err != nil {
			return
		}
		if store.CheckPage(page) != "" || !bytes.Equal(append(pageKey(key[0], page), rest...), key) || bytes.Compare(afterPage(key[0], page), key) <= 0 {
			t.Errorf("page %q of %q", page, key)
		}
		if tag, err := parseTag(rest); err == nil && tag != (store.Tag{}) && store.CheckTag(tag) != "" {
			t.Errorf("tag %v", tag)
		}
	})
}

// FuzzSmallValues reads anything as the other values.
func FuzzSmallValues(f *testing.F) {
	v := rollup.Vital{Name: "lcp", Labels: trie.MakeLabels("release", "r1")}
	v.Add(1000, 3)
	f.Add([]byte("o/feed\x00unsampled"), make([]byte, countSize))
	f.Add([]byte("n\x00\x00\x00\x00\x00\x00\x00\x01"), make([]byte, commitSize))
	f.Add([]byte("v/feed\x00abcdefghijkl"), append(make([]byte, 4), rollup.EncodeVitals([]rollup.Vital{v})...))
	f.Fuzz(func(t *testing.T, key, b []byte) {
		sumInto(key, b)
		_, cerr := parseCount(key, b)
		_, verr := parseVitals(key, b)
		for _, err := range []error{cerr, verr} {
			if err != nil {
				wantDamage(t, err)
			}
		}
		if c, ok := parseCommit(key, b); ok && c.number != binary.BigEndian.Uint64(key[1:]) {
			t.Errorf("commit %d of %x", c.number, key)
		}
	})
}

// FuzzDictionary reads anything as a dictionary.
func FuzzDictionary(f *testing.F) {
	content := []byte("a dictionary, a dictionary")
	id := dictionaryID(content)
	f.Add(id, append([]byte{0, 0, 0, 0, 1, 'x'}, compress(f, content)...))
	f.Add(id, append(make([]byte, 4), content...))
	f.Add(id, append([]byte{0, 0, 0, 0, 0}, compress(f, make([]byte, 4*maxDictionary))...))
	f.Fuzz(func(t *testing.T, id uint32, b []byte) {
		key := append(binary.BigEndian.AppendUint32([]byte{kindDictionary}, id), 0)
		sumInto(key, b)
		content, err := parseDictionary(id, key, b)
		if err != nil {
			wantDamage(t, err)
		} else if dictionaryID(content) != id {
			t.Errorf("dictionary %d has the content of another", id)
		}
	})
}

// FuzzClean reads anything as what is known of a partition.
func FuzzClean(f *testing.F) {
	f.Add(fixture(f, "20261120T00/CLEAN"))
	f.Add([]byte("crc32c 00000000 {}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := parseClean(b)
		if err == nil && c.Last < c.First {
			t.Errorf("contents %+v", c)
		}
	})
}

// TestClean reads what the program before wrote, and nothing that was changed.
func TestClean(t *testing.T) {
	b := fixture(t, "20261120T00/CLEAN")
	c, err := parseClean(b)
	if err != nil || c.Entries != 56 || c.Tables != 1 || c.First == 0 || c.blank() {
		t.Errorf("%+v, %v", c, err)
	}
	for i := range b {
		x := bytes.Clone(b)
		x[i] ^= 1
		if _, err := parseClean(x); err == nil {
			t.Errorf("byte %d was changed, and it is read", i)
		}
	}
}

// TestNames tells the names of partitions and files of rollups from others.
func TestNames(t *testing.T) {
	for name, want := range map[string]bool{"20261121T08": true, "20261121T0815": true, "20261121T0800": false, "20261121": false, "20261121T25": false, "20261121T08.corrupt": false} {
		if _, ok := ParseName(name); ok != want {
			t.Errorf("%s is the name of a partition: %v", name, ok)
		}
	}
	for name, want := range map[string]bool{"20261121.hours.sums": true, "202611.days.sums": true, "202611.hours.sums": false, "20261121.days.sums": false, "20261121.hours": false} {
		if _, ok := parseSumsName(name); ok != want {
			t.Errorf("%s is the name of a file of rollups: %v", name, ok)
		}
	}
}
