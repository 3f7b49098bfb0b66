package store_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
)

// format2Now is when the directory in testdata/format2 was closed, see the README there.
var format2Now = time.Date(2026, 11, 20, 10, 42, 0, 0, time.UTC)

func format2Options(t testing.TB, c *clock) store.Options {
	o := rolledOptions(t, c)
	o.Retention, o.HourRetention, o.DayRetention = 24*time.Hour, 48*time.Hour, 400*24*time.Hour
	return o
}

// format2Answers returns what the program that wrote the directory answered, by question.
func format2Answers(t testing.TB) map[string]string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "format2", "answers.txt.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	golden := make(map[string]string)
	for _, section := range strings.Split("\n"+string(text), "\n# ")[1:] {
		question, rest, _ := strings.Cut(section, "\n")
		golden[question] = strings.TrimSuffix(rest, "\n")
	}
	return golden
}

// format2Questions are what it was asked.
func format2Questions() []store.Query {
	at := func(day, hour int) time.Time { return time.Date(2026, 11, day, hour, 0, 0, 0, time.UTC) }
	return []store.Query{
		{},
		{Page: "/feed"}, {Page: "/settings"}, {Page: "/item/:id"},
		{Page: "/feed", Until: at(18, 0)},
		{Page: "/feed", Since: at(18, 0), Until: at(19, 0)},
		{Since: at(18, 21), Until: at(18, 22)},
		{Since: at(19, 0), Until: at(20, 0)},
		{Since: at(19, 11), Until: at(19, 12)},
		{Since: at(20, 7), Until: at(20, 9)},
		{Page: "/feed", Since: at(20, 9), Until: at(20, 10)},
		{Page: "/feed", Since: at(20, 10)},
		{Since: at(20, 10)},
	}
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Format("02T15:04")
}

// sameAsFormat2 checks that all is answered as the program answered that wrote the directory.
func sameAsFormat2(t testing.TB, when string, r *store.Reader, golden map[string]string) {
	t.Helper()
	for _, q := range format2Questions() {
		for _, none := range []bool{false, true} {
			text, st := answer(t, r, q, none)
			question := fmt.Sprintf("%q %s %s traces %v", q.Page, stamp(q.Since), stamp(q.Until), none)
			want, ok := golden[question]
			if !ok {
				t.Fatalf("no golden answer to %s", question)
			}
			got := fmt.Sprintf("complete %v lost %d widened %d\n", st.Complete(), st.Lost, len(st.Widened))
			for _, g := range st.Gaps {
				got += fmt.Sprintf("gap %s %q %d of %d\n", strings.Replace(g.Partition, ".hours.sums", ".hours", 1), g.Page, g.Found, g.Expected)
			}
			for _, u := range st.Unreadable {
				got += fmt.Sprintf("unreadable %s\n", u.Partition)
			}
			if got += text; got != want {
				t.Errorf("%s, %s:\n%.3000s\n%+v", when, question, differences(got, want), st)
			}
		}
	}
}

// A directory of format 2 is upgraded in place by whoever opens it first, and answers as
// before: by traces and by sums, when all is summed up again, and after another start.
func TestFormat2(t *testing.T) {
	t.Parallel()
	golden := format2Answers(t)
	for _, first := range []string{"reader", "store"} {
		t.Run(first, func(t *testing.T) {
			t.Parallel()
			dir := unpack(t, "format2/data.tar.gz")
			o := format2Options(t, newClock(format2Now))
			if first == "reader" {
				r := mustRead(t, dir, o)
				sameAsFormat2(t, "upgraded by a reader", r, golden)
				mustClose(t, r)
			}
			for _, when := range []string{"upgraded", "after another start"} {
				s := mustOpen(t, dir, o)
				sameAsFormat2(t, when, s.Reader, golden)
				maintainAndRoll(t, s)
				sameAsFormat2(t, when+" and rolled up", s.Reader, golden)
				mustClose(t, s)
			}
			if got := formatOf(t, dir); got != store.FormatVersion {
				t.Errorf("got format %d, want %d", got, store.FormatVersion)
			}
			for _, old := range oldRollups {
				if _, err := os.Stat(filepath.Join(dir, old)); err == nil {
					t.Errorf("%s is still there", old)
				}
			}
			goesOn(t, dir)
		})
	}
}

// oldRollups are the directories of rollups in testdata/format2.
var oldRollups = []string{"20261118.hours", "20261119.hours", "20261120.hours", "202611.days"}

// goesOn checks that an upgraded directory takes traces, and rolls them up to days.
func goesOn(t *testing.T, dir string) {
	t.Helper()
	c := newClock(format2Now)
	s := mustOpen(t, dir, format2Options(t, c))
	defer s.Close()
	r := rand.New(rand.NewPCG(5, 6))
	today := store.Query{Since: format2Now.Truncate(24 * time.Hour)}
	for n := 0; n < 60; n += 20 {
		mustAppend(t, s, fieldRecords(t, r, 10_000+n, 20)...)
		maintainAndRoll(t, s)
		got, st := answer(t, s.Reader, today, false)
		if want, _ := answer(t, s.Reader, today, true); got != want {
			t.Errorf("with new traces:\n%s\n%+v", differences(got, want), st)
		}
		c.Add(time.Hour)
	}
	want, _ := answer(t, s.Reader, today, true)
	c.Set(format2Now.Truncate(24 * time.Hour).Add(25 * time.Hour))
	maintainAndRoll(t, s)
	if got, st := answer(t, s.Reader, today, false); got != want || st.Days != 1 || st.Partitions != 0 {
		t.Errorf("when the day is over:\n%s\n%+v", differences(got, want), st)
	}
}

// An upgrade that a kill has interrupted is done again, wherever that was.
func TestFormat2Interrupted(t *testing.T) {
	t.Parallel()
	golden := format2Answers(t)
	old := unpack(t, "format2/data.tar.gz")
	upgraded := copyDir(t, old)
	o := format2Options(t, newClock(format2Now))
	mustClose(t, mustOpen(t, upgraded, o))
	files, err := filepath.Glob(filepath.Join(upgraded, "*.sums*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("files of sums: %v, %v", files, err)
	}
	// put writes a part of a file of the upgraded directory to another.
	put := func(t *testing.T, dir, name, as string, part float64) {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(upgraded, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, as), b[:int(float64(len(b))*part)], 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	cases := map[string]func(t *testing.T, dir string){
		"before the format is written": func(t *testing.T, dir string) {
			for _, f := range files {
				put(t, dir, filepath.Base(f), filepath.Base(f), 1)
			}
			for _, name := range oldRollups {
				mustRemove(t, filepath.Join(dir, name))
			}
		},
		"while the format is written": func(t *testing.T, dir string) {
			for _, f := range files {
				put(t, dir, filepath.Base(f), filepath.Base(f), 1)
			}
			for _, name := range oldRollups {
				mustRemove(t, filepath.Join(dir, name))
			}
			put(t, dir, "FORMAT", "FORMAT.tmp", 0.5)
		},
		"a killed program was upgraded": func(t *testing.T, dir string) {
			hours := filepath.Join(dir, "20261120.hours")
			if err := os.Rename(filepath.Join(hours, "CLEAN"), filepath.Join(hours, "OPENED")); err != nil {
				t.Fatal(err)
			}
			mustRemove(t, filepath.Join(dir, "20261120T10", "CLEAN"))
		},
	}
	for _, f := range files {
		name := filepath.Base(f)
		from := strings.TrimSuffix(name, ".sums") // which has become this file
		if !slices.Contains(oldRollups, from) {
			continue
		}
		cases[name+" is half written"] = func(t *testing.T, dir string) { put(t, dir, name, name+".tmp", 0.5) }
		cases[name+" is written, not renamed"] = func(t *testing.T, dir string) { put(t, dir, name, name+".tmp", 1) }
		cases[name+" is there, "+from+" as well"] = func(t *testing.T, dir string) { put(t, dir, name, name, 1) }
		cases[from+" is being deleted"] = func(t *testing.T, dir string) {
			put(t, dir, name, name, 1)
			if err := os.Rename(filepath.Join(dir, from), filepath.Join(dir, from+".deleting")); err != nil {
				t.Fatal(err)
			}
			mustRemove(t, filepath.Join(dir, from+".deleting", "MANIFEST"))
		}
	}
	for name, interrupt := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := copyDir(t, old)
			interrupt(t, dir)
			for _, when := range []string{"upgraded", "after another start"} {
				s := mustOpen(t, dir, o)
				sameAsFormat2(t, when, s.Reader, golden)
				maintainAndRoll(t, s)
				sameAsFormat2(t, when+" and rolled up", s.Reader, golden)
				mustClose(t, s)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "*.tmp")); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// Rollups of format 2 that are damaged do not keep a directory from being upgraded, also where
// others were set aside before. What is lost is said, and the traces are there.
func TestFormat2Damaged(t *testing.T) {
	t.Parallel()
	golden := format2Answers(t)
	old := unpack(t, "format2/data.tar.gz")
	for _, name := range oldRollups {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := copyDir(t, old)
			cut(t, filepath.Join(dir, name, "MANIFEST"), 8)
			o := format2Options(t, newClock(format2Now))
			for range 2 {
				s := mustOpen(t, dir, o)
				for _, q := range format2Questions() {
					got, st := answer(t, s.Reader, q, false)
					want := golden[fmt.Sprintf("%q %s %s traces false", q.Page, stamp(q.Since), stamp(q.Until))]
					if !strings.HasSuffix(want, got) && st.Complete() && len(st.Widened) == 0 {
						t.Errorf("a wrong answer to %+v that is called complete and exact:\n%.2000s", q, got)
					}
					got, _ = answer(t, s.Reader, q, true)
					want = golden[fmt.Sprintf("%q %s %s traces true", q.Page, stamp(q.Since), stamp(q.Until))]
					if !strings.HasSuffix(want, got) {
						t.Errorf("by traces, a wrong answer to %+v:\n%.2000s", q, got)
					}
				}
				maintainAndRoll(t, s)
				mustClose(t, s)
			}
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				t.Errorf("%s is still there", name)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, name+".corrupt*")); len(left) == 0 {
				t.Errorf("%s was not kept", name)
			}
		})
	}
}
