package local_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local"
)

// What is missing, damaged or of another time never deletes what is not. Directories are harmed by chance: files are lost, cut,
// turned over or put back as they were, clocks are wrong by minutes to years, daemons stop and start. Nothing may be deleted that
// somebody who knows the true time would have kept for an hour longer, and what can not be read is said. SEEDS says how many.
func TestHarm(t *testing.T) {
	t.Parallel()
	seeds, err := strconv.ParseUint(os.Getenv("SEEDS"), 10, 32)
	if err != nil {
		seeds = 3
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { harm(t, seed) })
	}
}

// harmed is a directory and what is known of it.
type harmed struct {
	t    *testing.T
	r    *rand.Rand
	dir  string
	now  time.Time     // the true time
	off  time.Duration // by how much the clock of the machine is wrong
	log  bytes.Buffer
	s    *local.Store
	last map[string]time.Time // by partition: when a trace was received last, in true time
	lost map[string]bool      // what was taken away, by the name in the directory
	did  []string
	next int
	old  []byte // a file as it was, to be put back
	path string
}

const harmRetention = 36 * time.Hour

func harm(t *testing.T, seed uint64) {
	h := &harmed{t: t, r: rand.New(rand.NewPCG(seed, 28)), dir: t.TempDir(), now: noon, last: map[string]time.Time{}, lost: map[string]bool{}}
	h.open()
	defer func() { _ = h.s.Close() }()
	for range 40 {
		h.step()
		if t.Failed() {
			t.Fatalf("after\n%s\nthe log:\n%s", strings.Join(h.did, "\n"), &h.log)
		}
	}
}

func (h *harmed) open() {
	o := testOptions(h.t, nil)
	o.Now = func() time.Time { return h.now.Add(h.off) }
	o.DoubtClock, o.Retention, o.HourRetention, o.DayRetention = true, harmRetention, 30*24*time.Hour, 400*24*time.Hour
	o.RollEvery, o.RollTraces, o.Logger = time.Nanosecond, 1, slog.New(slog.NewTextHandler(&h.log, nil))
	s, err := local.Open(h.dir, o)
	if err != nil {
		h.t.Fatalf("open after\n%s: %v", strings.Join(h.did, "\n"), err)
	}
	h.s = s
}

func (h *harmed) note(format string, args ...any) {
	h.did = append(h.did, h.now.Format("02 15:04 ")+fmt.Sprintf(format, args...))
}

// step does one thing, lets the store do what it does by itself, and judges what is gone.
func (h *harmed) step() {
	before := h.names()
	switch n := h.r.IntN(10); {
	case n < 4:
		if h.off > -time.Hour { // what is received at a time long ago is as old as that
			h.receive()
		}
	case n < 6:
		d := time.Duration(h.r.IntN(300)) * time.Minute
		h.note("%v pass", d)
		h.now = h.now.Add(d)
	case n < 7:
		h.off = []time.Duration{0, 0, 5 * time.Minute, -5 * time.Minute, 30 * 24 * time.Hour, 402 * 24 * time.Hour, 2 * 365 * 24 * time.Hour, -402 * 24 * time.Hour}[h.r.IntN(8)]
		h.note("the clock is wrong by %v", h.off)
		if h.off.Abs() > time.Hour { // it was set while the machine was off
			h.restart(nil)
		}
	case n < 8:
		h.restart(nil)
	default:
		h.restart(h.damage)
	}
	for range 3 {
		_ = h.s.Maintain(h.t.Context()) // a disk that was harmed may refuse
		_ = h.s.Roll(h.t.Context())
	}
	h.judge(before)
	if h.off.Abs() > time.Hour && h.r.IntN(3) == 0 {
		h.note("the clock is right again")
		h.off = 0
	}
}

func (h *harmed) receive() {
	var recs []store.Record
	for range 1 + h.r.IntN(20) {
		h.next++
		var id store.ID
		copy(id.View[:], fmt.Sprintf("view%012d", h.next))
		recs = append(recs, traceRecord(h.t, fieldTrace(h.r, id), id))
	}
	res, err := h.s.Append(h.t.Context(), recs)
	h.note("%d of %d traces are stored: %v", res.Stored, len(recs), err)
	if err != nil {
		return
	}
	status, err := h.s.Status()
	if err != nil {
		h.t.Fatal(err)
	}
	for _, p := range status.Partitions {
		if p.State == local.Writing {
			h.last[p.Name] = h.now
		}
	}
}

// restart ends the store, has something done meanwhile, and opens it again.
func (h *harmed) restart(meanwhile func()) {
	if err := h.s.Close(); err != nil {
		h.note("close: %v", err)
	}
	if meanwhile != nil {
		meanwhile()
	}
	h.note("the daemon starts again")
	h.open()
}

// damage does harm to one file. FORMAT and the lock are no data: without them a directory is refused, or none.
func (h *harmed) damage() {
	var files []string
	err := filepath.WalkDir(h.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && d.Name() != "FORMAT" && d.Name() != "LOCK" {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		return
	}
	path := files[h.r.IntN(len(files))]
	body, err := os.ReadFile(path)
	if err != nil {
		h.t.Fatal(err)
	}
	name, _ := filepath.Rel(h.dir, path)
	switch h.r.IntN(5) {
	case 0:
		h.note("%s is lost", name)
		h.lost[name] = true
		_ = os.Remove(path)
		return
	case 1:
		body = body[:h.r.IntN(len(body)+1)]
		h.note("%s is cut to %d bytes", name, len(body))
	case 2:
		if len(body) > 0 {
			body[h.r.IntN(len(body))] ^= 1 << h.r.IntN(8)
		}
		h.note("a bit of %s is turned over", name)
	case 3:
		if _, err := os.Stat(filepath.Dir(h.path)); h.path == "" || err != nil {
			h.path, h.old = path, body
			return
		}
		path, body = h.path, h.old
		h.note("%s is put back as it was", path)
		h.path = ""
	case 4:
		path += ".copy"
		h.note("%s is there twice", name)
	}
	if err := os.WriteFile(path, body, 0o600); err != nil {
		h.t.Fatal(err)
	}
}

var dated = regexp.MustCompile(`\d{8}(T\d{2}(\d{2})?)?`)

// names returns the entries of the directory that have a date in their names.
func (h *harmed) names() (out []string) {
	entries, err := os.ReadDir(h.dir)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, e := range entries {
		if dated.MatchString(e.Name()) && !strings.HasSuffix(e.Name(), ".copy") {
			out = append(out, e.Name())
		}
	}
	return out
}

// judge looks at what is gone: only what was taken away, took another name, or is too old may be.
func (h *harmed) judge(before []string) {
	after := h.names()
	for _, name := range before {
		date := dated.FindString(name)
		last, ofTraces := h.last[name]
		renamed := slices.ContainsFunc(after, func(n string) bool { return dated.FindString(n) == date })
		switch {
		case renamed, h.lost[name]:
		case !ofTraces && regexp.MustCompile(`^`+dated.String()+`$`).MatchString(name): // one in which nothing was stored
		case ofTraces && !h.now.Before(last.Add(harmRetention-time.Hour)):
		default:
			h.t.Errorf("%s is gone at %s, the last trace came %s; there are %v", name, h.now, last, after)
		}
	}
}
