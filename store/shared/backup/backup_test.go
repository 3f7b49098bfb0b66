package backup

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// memory is an exclusive store in memory.
type memory map[string][]byte

func (m memory) Put(_ context.Context, key string, body []byte, c objects.Condition) (objects.Tag, error) {
	if m[key] != nil && c.Absent {
		return "", objects.ErrConflict
	}
	m[key] = body
	return objects.Tag(key), nil
}

func (m memory) Get(_ context.Context, key string, _ int64, _ objects.Tag) (*objects.Object, error) {
	if m[key] == nil {
		return nil, objects.ErrNotFound
	}
	return &objects.Object{Body: m[key], Tag: objects.Tag(key)}, nil
}

func (m memory) Range(context.Context, string, int64, int64) ([]byte, int64, error) {
	return nil, 0, objects.ErrNotFound
}

func (m memory) List(_ context.Context, prefix, after string) iter.Seq2[objects.Entry, error] {
	return func(yield func(objects.Entry, error) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if strings.HasPrefix(k, prefix) && k > after && !yield(objects.Entry{Key: k, Size: int64(len(m[k]))}, nil) {
				return
			}
		}
	}
}

func (m memory) Delete(_ context.Context, keys ...string) error {
	for _, k := range keys {
		delete(m, k)
	}
	return nil
}

func (m memory) Probe(context.Context) error { return nil }
func (m memory) Exclusive() bool             { return true }
func (m memory) Unready() error              { return nil }
func (m memory) Clock() *objects.Clock       { return objects.LocalClock(time.Now) }
func (m memory) Name() string                { return "memory/" }
func (m memory) Requests() objects.Requests  { return objects.Requests{} }
func options() layout.Options                { return layout.Options{Shards: 2, GiveUp: time.Second} }

// sealed ends a backup and returns it. A buffer never returns an error.
func sealed(w *writer, to *bytes.Buffer) []byte { _ = w.close(end{}); return to.Bytes() }

// format is the object FORMAT of two shards.
const format = `{"format":1,"shards":2}`

// tryRestore restores a backup, and checks the invariants of every restore.
func tryRestore(t testing.TB, data []byte) error {
	t.Helper()
	to := memory{}
	a, err := Open(bytes.NewReader(data))
	if err == nil {
		_, err = a.Restore(t.Context(), to, options(), func(string) {})
	}
	if err != nil && len(to) > 0 {
		t.Fatalf("after error %v objects are left: %v", err, slices.Sorted(maps.Keys(to)))
	}
	if err == nil && (string(to[objects.Marker]) == "" || to[layout.Restoring] != nil) {
		t.Fatalf("the location is incomplete: %v", slices.Sorted(maps.Keys(to)))
	}
	for key := range to {
		if strings.Contains(key, "..") || strings.HasPrefix(key, "/") || key == endEntry {
			t.Fatalf("invalid key %q was written", key)
		}
	}
	return err
}

// source returns a small backup.
func source(t testing.TB) []byte {
	t.Helper()
	m := memory{}
	b, err := layout.Create(t.Context(), m, options())
	if err != nil {
		t.Fatal(err)
	}
	const segment = "seg/20261120T10/abc-00000001"
	body, err := layout.EncodeSegment(b.Codec, segment,
		&layout.Batch{Counts: []layout.Count{{Page: "/a", Reason: "unsampled", Views: 3}}}, 2)
	if err != nil {
		t.Fatal(err)
	}
	m[segment] = body
	m["quarantine/20261120T10/abc-00000002"] = []byte("damaged")
	m["symbols/tables/ab/"+strings.Repeat("ab", 32)] = []byte("table")
	m["symbols/uploads/1-2.json"] = []byte("{}")
	m["symbols/sites/shop/tables/ab/"+strings.Repeat("ab", 32)] = []byte("table of a site")
	m["symbols/sites/shop/uploads/1-2.json"] = []byte("{ }")
	m["theirs"] = []byte("which is not ours")
	var out bytes.Buffer
	stats, err := Backup(t.Context(), &out, b)
	if err != nil || stats.Objects != 7 || len(stats.Wrong) > 0 {
		t.Fatalf("got %+v, %v", stats, err)
	}
	return out.Bytes()
}

// withChecksums corrects the checksums in the headers of a tar archive. Without that, a changed
// archive would be rejected at its first header.
func withChecksums(data []byte) []byte {
	const block, magic, from, to = 512, 257, 148, 156
	out := bytes.Clone(data)
	for h := range slices.Chunk(out, block) {
		if len(h) < block || !bytes.HasPrefix(h[magic:], []byte("ustar")) {
			continue
		}
		copy(h[from:to], "        ")
		sum := 0
		for _, b := range h {
			sum += int(b)
		}
		copy(h[from:to], fmt.Sprintf("%06o\x00 ", sum))
	}
	return out
}

// FuzzRestore restores random bytes: either an error is returned and no object is left, or all
// objects are restored. The initial archives are small, because the fuzzer minimizes each archive
// that it finds.
func FuzzRestore(f *testing.F) {
	for _, entry := range [][2]string{
		{"symbols/uploads/1-2.json", "{}"}, {"shard/001/MANIFEST", "x"}, {"seg/20261120T10/abc-00000001", "x"},
		{"deletions/open/dry/ABC", "{}"}, {"changes/STATE", "x"}, {"../x", ""},
	} {
		var out bytes.Buffer
		w := newWriter(&out, time.Unix(1_795_000_000, 0))
		for _, e := range [][2]string{{objects.Marker, format}, entry} {
			if err := w.put(e[0], []byte(e[1])); err != nil {
				f.Fatal(err)
			}
		}
		f.Add(sealed(w, &out))
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) { _ = tryRestore(t, withChecksums(data)) })
}

// An entry with a changed name passes the checksum of its header, and is then rejected because of
// its name.
func TestWithChecksums(t *testing.T) {
	changed := bytes.Replace(source(t), []byte("symbols/uploads/1-2.json"), []byte("symbols/uploads/1/2.json"), 1)
	if err := tryRestore(t, changed); err == nil || !strings.Contains(err.Error(), "invalid tar header") {
		t.Errorf("got %v, want a wrong checksum", err)
	}
	if err := tryRestore(t, withChecksums(changed)); err == nil || !strings.Contains(err.Error(), "1/2.json") {
		t.Errorf("got %v, want a wrong key", err)
	}
	if err := tryRestore(t, withChecksums(source(t))); err != nil {
		t.Error(err)
	}
}

// FuzzEntries restores backups with a correct end and random entries: a key and its content on each
// line.
func FuzzEntries(f *testing.F) {
	for _, line := range hostile() {
		f.Add(line + "\nseg/20261120T10/abc-00000001 x")
	}
	f.Add("shard/001/MANIFEST x\nraw/001/20261120T10/A.run y\nsymbols/uploads/1-2.json {}")
	f.Fuzz(func(t *testing.T, text string) {
		var out bytes.Buffer
		w := newWriter(&out, time.Now())
		_ = w.put(objects.Marker, []byte(format))
		for line := range strings.Lines(text) {
			key, body, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			if w.put(key, []byte(body)) != nil {
				return // tar does not support this name
			}
		}
		_ = tryRestore(t, sealed(w, &out))
	})
}

// hostile returns keys that are not valid in any bucket.
func hostile() []string {
	return []string{"../x", "/etc/passwd", "seg/../../x", "raw/000/20261120T10/../../../x.run",
		"raw/002/20261120T10/A.run", "shard/999/MANIFEST", "LOCK", "FORMAT", "RESTORING",
		"probe/x", "symbols/tables/ab/../../x", "symbols/uploads/../x.json", "symbols/sites/../uploads/1-2.json",
		"symbols/sites/SHOP/uploads/1-2.json", "symbols/sites//uploads/1-2.json",
		"seg/20261120T10/abc-00000001.tmp", "seg/20261120T10/abc-1", "", "x.sock"}
}

func TestHostile(t *testing.T) {
	if err := tryRestore(t, source(t)); err != nil {
		t.Fatal(err)
	}
	for _, key := range hostile() {
		var out bytes.Buffer
		w := newWriter(&out, time.Now())
		_ = w.put(objects.Marker, []byte(format))
		if err := w.put(key, []byte("x")); err != nil {
			t.Fatal(err)
		}
		if err := tryRestore(t, sealed(w, &out)); err == nil {
			t.Errorf("invalid key %q was written", key)
		}
	}
	for name, x := range map[string]struct {
		header tar.Header
		body   string
	}{
		"a link": {tar.Header{Typeflag: tar.TypeSymlink, Name: "seg/20261120T10/abc-00000001",
			Linkname: "/etc/passwd"}, ""},
		"a folder": {tar.Header{Typeflag: tar.TypeDir, Name: "seg/"}, ""},
		"a huge segment": {tar.Header{Typeflag: tar.TypeReg, Name: "seg/20261120T10/abc-00000001",
			Size: 1 << 40}, ""},
		"a huge run":       {tar.Header{Typeflag: tar.TypeReg, Name: "raw/000/20261120T10/A.run", Size: 1 << 30}, ""},
		"a huge end":       {tar.Header{Typeflag: tar.TypeReg, Name: endEntry, Size: 1 << 40}, ""},
		"a newer version":  {tar.Header{Typeflag: tar.TypeReg, Name: endEntry, Size: 12}, `{"backup":2}`},
		"an end that lies": {tar.Header{Typeflag: tar.TypeReg, Name: endEntry, Size: 12}, `{"backup":1}`},
	} {
		var out bytes.Buffer
		w := newWriter(&out, time.Now())
		_ = w.put(objects.Marker, []byte(format))
		if err := w.tar.WriteHeader(&x.header); err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(w.tar, x.body)
		if err := tryRestore(t, out.Bytes()); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// Zeros may follow a backup, because other programs pad archives. A second backup and any other
// data is rejected.
func TestBehindTheEnd(t *testing.T) {
	whole := source(t)
	for name, x := range map[string]struct {
		more string
		want string
	}{
		"nothing":                {"", ""},
		"padding":                {strings.Repeat("\x00", 100<<10), ""},
		"a second backup":        {string(whole), "more data follows END.json, such as a second backup"},
		"a byte after zeros":     {strings.Repeat("\x00", 100<<10) + "x", "more data follows END.json"},
		"half of another header": {string(whole[:300]), "more data follows END.json"},
	} {
		err := tryRestore(t, []byte(string(whole)+x.more))
		if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: got %v, want %q", name, err, x.want)
		}
	}
}

// The memory that is allocated does not depend on the sizes in headers.
func TestMemory(t *testing.T) {
	var out bytes.Buffer
	w := newWriter(&out, time.Now())
	_ = w.put(objects.Marker, []byte(format))
	if err := w.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "raw/000/20261120T10/A.run",
		Size: 1 << 30}); err != nil {
		t.Fatal(err)
	}
	r := newReader(bytes.NewReader(out.Bytes()))
	for range 2 {
		if _, err := r.next(); err != nil {
			t.Fatal(err)
		}
	}
	if n := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			_, _ = r.content(1 << 30)
		}
	}).AllocedBytesPerOp(); n > 4*atOnce {
		t.Errorf("allocated %d bytes", n)
	}
}

// If another process initializes the location before the restore is complete, its objects are kept.
func TestRestoreRace(t *testing.T) {
	to := memory{}
	a, err := Open(bytes.NewReader(source(t)))
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Restore(t.Context(), to, options(), func(string) {
		to[objects.Marker], to["seg/other"] = []byte("{}"), []byte("x")
	})
	if err == nil || !strings.Contains(err.Error(), "nothing is deleted") || to["seg/other"] == nil {
		t.Errorf("got %v, %v", err, slices.Sorted(maps.Keys(to)))
	}
}

// An unreadable object is reported, and the backup continues.
func TestUnreadable(t *testing.T) {
	m := unreadable{memory{}}
	b, err := layout.Create(t.Context(), m, options())
	if err != nil {
		t.Fatal(err)
	}
	m.memory["symbols/uploads/1-1.json"], m.memory["symbols/uploads/1-2.json"] = []byte("{}"), []byte("{}")
	var out bytes.Buffer
	stats, err := Backup(t.Context(), &out, b)
	if err != nil || stats.Objects != 2 || len(stats.Wrong) != 1 ||
		stats.Wrong[0].Object != "symbols/uploads/1-1.json" {
		t.Errorf("got %+v, %v", stats, err)
	}
}

// Uploads name tables, so all tables are copied first, whatever the names of sites.
func TestUploadsLast(t *testing.T) {
	m := reads{memory{}, new([]string)}
	b, err := layout.Create(t.Context(), m, options())
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []string{"", "sites/shop/", "sites/tables/", "sites/uploads/"} {
		m.memory["symbols/"+of+"tables/ab/"+strings.Repeat("ab", 32)] = []byte("table")
		m.memory["symbols/"+of+"uploads/1-2.json"] = []byte("{}")
	}
	*m.keys = nil
	if stats, err := Backup(t.Context(), io.Discard, b); err != nil || len(stats.Wrong) > 0 {
		t.Fatalf("got %+v, %v", stats, err)
	}
	var symbols []string
	for _, key := range *m.keys {
		if strings.HasPrefix(key, "symbols/") {
			symbols = append(symbols, path.Ext(key))
		}
	}
	if want := []string{"", "", "", "", ".json", ".json", ".json", ".json"}; !slices.Equal(symbols, want) {
		t.Errorf("copied %q", *m.keys)
	}
}

type reads struct {
	memory
	keys *[]string
}

func (m reads) Get(ctx context.Context, key string, most int64, known objects.Tag) (*objects.Object, error) {
	*m.keys = append(*m.keys, key)
	return m.memory.Get(ctx, key, most, known)
}

type unreadable struct{ memory }

func (m unreadable) Get(ctx context.Context, key string, most int64, known objects.Tag) (*objects.Object, error) {
	if strings.HasSuffix(key, "1-1.json") {
		return nil, fmt.Errorf("get %s: input/output error", key)
	}
	return m.memory.Get(ctx, key, most, known)
}
