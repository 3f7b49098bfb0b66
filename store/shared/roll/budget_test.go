package roll

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

var budgetNow = time.Date(2026, 11, 24, 10, 30, 0, 0, time.UTC)

// someManifests returns random manifests of several shards, with the sizes of the objects that they
// name and of others.
func someManifests(r *rand.Rand) *budget {
	b := &budget{size: map[string]int64{}, now: budgetNow}
	file := func() layout.File { return layout.File{ID: strconv.FormatUint(r.Uint64(), 36)} }
	files := func(n int, key func(id string) string) (out []layout.File) {
		for range n {
			f := file()
			b.size[key(f.ID)] = 1 + r.Int64N(100)
			out = append(out, f)
		}
		return out
	}
	for shard := range 1 + r.IntN(4) {
		m := &layout.Manifest{Hours: map[string]*layout.Hour{}, Days: map[string]*layout.Day{}}
		b.of = append(b.of, m)
		open := layout.DayOf(layout.HourOf(budgetNow.AddDate(0, 0, -r.IntN(5)))) // a day that is not closed
		for back := range 100 {
			name := layout.HourOf(budgetNow.Add(-time.Duration(back) * time.Hour))
			if r.IntN(3) == 0 {
				continue
			}
			h := m.Hour(name)
			h.Sealed = back > 0 && r.IntN(20) > 0
			if back < 50 || !h.Sealed {
				h.Runs = files(r.IntN(3), func(id string) string { return layout.RunKey(shard, name, id) })
			}
			h.Rollups = files(1, func(id string) string { return layout.HourKey(shard, name, id) })
			if day := layout.DayOf(name); day < layout.DayOf(layout.HourOf(budgetNow)) && day != open {
				if m.Days[day] == nil {
					m.Days[day] = &layout.Day{Rollups: files(1, func(id string) string {
						return layout.DayKey(shard, day, id)
					})}
				}
				m.Days[day].Sources = append(m.Days[day].Sources, name)
			}
		}
		b.size[layout.RunKey(shard, "20261101T00", "unnamed")] = 1 << 40
		gone := layout.RunKey(shard, "20261101T00", "removed")
		m.Remove(budgetNow, gone)
		b.size[gone] = 1 << 40
	}
	b.size[layout.Segments+"20261124T10/a"] = 1 + r.Int64N(100)
	return b
}

// times returns the hours with traces, the days with hours, and the days that have rollups.
func times(m *layout.Manifest) (out [3]map[string]bool) {
	for i := range out {
		out[i] = map[string]bool{}
	}
	for name, h := range m.Hours {
		if len(h.Runs) > 0 {
			out[0][name] = true
		}
		out[1][layout.DayOf(name)] = true
	}
	for name := range m.Days {
		out[2][name] = true
	}
	return out
}

// After a cut the rest fits, unless nothing more may be deleted. The deleted data is the oldest of
// its kind that may be deleted, and a kind is only cut after all earlier kinds are used up. With
// less room, less is left.
func TestBudget(t *testing.T) {
	for seed := range uint64(60) {
		b := someManifests(rand.New(rand.NewPCG(seed, 1)))
		before := b.of
		all := b.taken()
		if all > 1<<39 {
			t.Fatalf("seed %d: %d bytes: objects that no manifest names are counted", seed, all)
		}
		last, total := int(^uint(0)>>1), all
		for most := all + 10; most > -500; most -= 1 + all/20 {
			b.of = nil
			for _, m := range before {
				b.of = append(b.of, m.Clone())
			}
			b.over = all - most
			changed := b.cut()
			taken := b.taken()
			if taken != most+b.over || taken > total {
				t.Fatalf("seed %d, most %d: %d bytes used, %d too many; before %d", seed, most, taken, b.over, total)
			}
			total = taken
			if most >= all && len(changed) > 0 {
				t.Fatalf("seed %d: data was deleted although all of it fits", seed)
			}
			left := 0
			for shard, m := range b.of {
				left += len(m.Names(shard))
				if named := m.Names(shard); len(named) < len(before[shard].Names(shard)) != changed[shard] {
					t.Fatalf("seed %d: shard %d was cut, but is not reported as changed", seed, shard)
				}
			}
			if left > last {
				t.Fatalf("seed %d: more is left with less room", seed)
			}
			last = left
			checkCut(t, before, b)
			b.over = max(b.over, 0)
			if again := b.cut(); len(again) > 0 {
				t.Fatalf("seed %d: a second cut removes more", seed)
			}
		}
	}
}

// checkCut compares the data before and after a cut with the rules.
func checkCut(t *testing.T, before []*layout.Manifest, b *budget) {
	t.Helper()
	newest := [3]string{}
	for _, m := range before {
		for i, names := range times(m) {
			for name := range names {
				newest[i] = max(newest[i], name)
			}
		}
	}
	gone, may := [3]map[string]bool{}, [3]map[string]bool{}
	for i := range gone {
		gone[i], may[i] = map[string]bool{}, map[string]bool{} // may be deleted and exists
	}
	for shard, m := range b.of {
		was, is := times(before[shard]), times(m)
		for i := range was {
			for name := range was[i] {
				if is[i][name] {
					if name < newest[i] && allowed(i, m, name) {
						may[i][name] = true
					}
					continue
				}
				gone[i][name] = true
				if i == 2 && is[1][name] {
					t.Fatalf("day %s was deleted before its hours", name)
				}
				if name >= newest[i] {
					t.Fatalf("the newest %s of kind %d was deleted", name, i)
				}
			}
		}
		for name, h := range before[shard].Hours {
			now := m.Hours[name]
			if (!h.Sealed || name >= "20261124T09") && (now == nil || len(now.Runs) != len(h.Runs)) {
				t.Fatalf("hour %s was deleted although it is open or ended recently", name)
			}
			if now == nil && before[shard].Days[layout.DayOf(name)] == nil {
				t.Fatalf("hour %s was deleted without a day", name)
			}
		}
	}
	for i := range gone {
		if b.over > 0 && len(may[i]) > 0 {
			t.Fatalf("%d bytes too many, and %v of kind %d may go", b.over, may[i], i)
		}
		for name := range may[i] {
			if latest := slices.Max(append(slices.Collect(maps.Keys(gone[i])), "")); name <= latest {
				t.Fatalf("%s of kind %d is left, but %s was deleted", name, i, latest)
			}
			for _, later := range gone[i+1:] {
				if len(later) > 0 {
					t.Fatalf("%s of kind %d is left, but %v was deleted", name, i, later)
				}
			}
		}
	}
}

// allowed is an independent statement of which data may be deleted.
func allowed(kind int, m *layout.Manifest, name string) bool {
	switch kind {
	case 0:
		return m.Hours[name].Sealed && name < "20261124T09"
	case 1:
		for hour, h := range m.Hours {
			if hour[:8] == name && (!h.Sealed || len(h.Runs) > 0) {
				return false
			}
		}
		return m.Days[name] != nil
	}
	for hour := range m.Hours {
		if hour[:8] == name && slices.Contains(m.Days[name].Sources, hour) {
			return false
		}
	}
	return true
}
