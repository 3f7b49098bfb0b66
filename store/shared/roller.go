package shared

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/block"
	"github.com/fieldtrie/fieldtrie/store/bucket"
)

// errLost says that another machine has written the manifest meanwhile. All that was done for it is in vain.
var errLost = errors.New("another machine was first")

// roller rolls up a shard: it turns what segments have of it into runs and sums, and has the manifest name
// them. Any number of machines may do that at once; one of them succeeds. It is for one goroutine.
type roller struct {
	n     *rollers
	b     *view
	shard int

	m    *manifest // as it was read or written last; nil if that is not known
	tag  bucket.Tag
	keys map[string]*runKeys // of runs, by their names
	seen seenState           // while another machine has it
	kept seenState           // the manifest of which the last copy was kept, by this machine

	released bool // the next commit leaves it to others

	made      []string        // objects that were put since the manifest was written
	abandoned map[string]bool // objects that were put for manifests that were not

	// Of the cycle that is under way:
	began                  time.Time // when the first object was put, zero if none was
	fresh, duplicates, bad int       // rows
}

// forget forgets what is known of the shard.
func (r *roller) forget() {
	r.m, r.tag, r.keys = nil, "", nil
	if r.abandoned == nil {
		r.abandoned = map[string]bool{}
	}
	for _, k := range r.made {
		if len(r.abandoned) < maxAbandoned {
			r.abandoned[k] = true
		}
	}
	r.made = nil
}

// load makes sure that a manifest is known. It may be an old one.
func (r *roller) load(ctx context.Context) error {
	if r.m != nil {
		return nil
	}
	m, tag, err := r.b.manifest(ctx, r.shard, 0)
	if err != nil {
		return err
	}
	r.m, r.tag, r.keys = m, tag, map[string]*runKeys{}
	if tag != "" {
		return nil
	}
	// A shard has a manifest before it has anything else: then one that is not there is always lost.
	if err := r.replace(ctx, m.clone()); err != nil {
		r.forget()
		return err
	}
	return nil
}

// begin makes sure that a manifest is known, for another one that names what is put from now on.
func (r *roller) begin(ctx context.Context) error {
	r.began, r.fresh, r.duplicates, r.bad = time.Time{}, 0, 0, 0
	return r.load(ctx)
}

// cycle rolls up what came in, as far as it is in a listing and not too much at once. It reports whether there
// is more. [errLost] says that another machine has done something meanwhile.
func (r *roller) cycle(ctx context.Context, l *listing) (more bool, err error) {
	defer func() {
		if err != nil {
			r.forget()
		}
	}()
	if err := r.begin(ctx); err != nil {
		return false, err
	}
	next := r.m.clone()
	next.AsOf = max(next.AsOf, l.at.UnixMicro())
	work := map[string]*arrived{}
	rows, taken := 0, 0
	r.b.fetchAhead(ctx, l, next)
	for _, s := range l.list {
		if next.has(s.segmentName) {
			continue
		}
		if rows >= r.n.opts.Rows {
			more = true
			next.AsOf = max(r.m.AsOf, min(next.AsOf, s.modified.UnixMicro()))
			continue
		}
		b, err := r.read(ctx, l, s.segmentName)
		switch {
		case errors.Is(err, block.ErrDamaged): // which stops none of the others
			r.n.bad.note(l, s.segmentName)
			next.AsOf = max(r.m.AsOf, min(next.AsOf, s.modified.UnixMicro()))
			continue
		case errors.Is(err, bucket.ErrNotFound):
			return true, errLost // who deletes a segment has seen it consumed
		case err != nil:
			return false, err
		}
		a := r.arrived(work, next, s.hour, l.at)
		a.rows = append(a.rows, b.rows...)
		a.counts = append(a.counts, b.counts...)
		rows += len(b.rows)
		taken++
		next.take(s.segmentName, l.at)
	}
	if taken == 0 {
		return false, nil
	}
	for _, hour := range slices.Sorted(maps.Keys(work)) {
		if err := r.rollHour(ctx, next, hour, work[hour]); err != nil {
			return false, err
		}
	}
	return more, r.commit(ctx, next)
}

// read returns what a segment has of the shard.
func (r *roller) read(ctx context.Context, l *listing, s segmentName) (*batch, error) {
	o, err := r.b.segment(ctx, l, s)
	if err != nil {
		return nil, err
	}
	return o.shardOf(ctx, r.shard)
}

// arrived is what came for an hour.
type arrived struct {
	rows   []row
	counts []count
}

// arrived returns where what was received in an hour is added to: that hour, or the present one if that
// is closed.
func (r *roller) arrived(work map[string]*arrived, m *manifest, hour string, now time.Time) *arrived {
	if !r.isOpen(m, hour, now) {
		for hour = hourOf(now); !r.isOpen(m, hour, now); { // a clock may have been set back
			hour = hourAfter(hour, 1)
		}
	}
	a := work[hour]
	if a == nil {
		a = &arrived{}
		work[hour] = a
	}
	return a
}

// isOpen reports whether something can be added to an hour.
func (r *roller) isOpen(m *manifest, hour string, now time.Time) bool {
	if h := m.Hours[hour]; h != nil && h.Sealed {
		return false
	}
	return m.Days[dayOf(hour)] == nil && !expired(hour, time.Duration(r.n.opts.Keep.Traces), now)
}

// addRows adds those traces of an hour that are not there, as if they came now.
func (r *roller) addRows(ctx context.Context, hour string, rows []row) error {
	if err := r.begin(ctx); err != nil {
		return err
	}
	next := r.m.clone()
	work := map[string]*arrived{}
	r.arrived(work, next, hour, r.b.Now()).rows = rows
	for hour, a := range work {
		if err := r.rollHour(ctx, next, hour, a); err != nil {
			return err
		}
	}
	if r.fresh == 0 {
		return nil
	}
	return r.replace(ctx, next)
}

// putBack replaces a manifest that is lost or damaged, whose tag is given if there is one, by an older one.
func (r *roller) putBack(ctx context.Context, m *manifest, tag bucket.Tag) error {
	r.m, r.tag, r.keys, r.began = m, tag, map[string]*runKeys{}, time.Time{}
	next := m.clone()
	next.Owner = ""
	return r.replace(ctx, next)
}

// rollHour adds what came for an hour: as a run, and as what it adds to the sums.
func (r *roller) rollHour(ctx context.Context, next *manifest, hour string, a *arrived) error {
	rows, err := r.newRows(ctx, next, hour, a.rows)
	if err != nil {
		return err
	}
	h := next.hour(hour)
	h.Duplicates += uint64(len(a.rows) - len(rows))
	r.duplicates += len(a.rows) - len(rows)
	r.fresh += len(rows)
	if len(rows)+len(a.counts) == 0 {
		return nil
	}
	sums, err := r.sum(ctx, next, hour, rows, a.counts)
	if err != nil {
		return err
	}
	runs, err := r.putRows(ctx, hour, rows)
	if err != nil {
		return err
	}
	h.Runs = append(h.Runs, runs...)
	h.Sums = append(h.Sums, sums...)
	h.Traces += uint64(len(rows))
	for i := range rows {
		h.sees(rows[i].received)
	}
	for i := range a.counts {
		h.sees(a.counts[i].received)
	}
	return r.fold(ctx, next, hour)
}

// put stores an object that nobody else puts. Attempts of the same bytes do no harm.
func (r *roller) put(ctx context.Context, k string, body []byte) error {
	if r.began.IsZero() {
		r.began = r.b.Now()
	}
	r.made = append(r.made, k)
	return r.b.putObject(ctx, k, body)
}

// newRows returns the rows that were not there before, sorted and distinct.
func (r *roller) newRows(ctx context.Context, m *manifest, hour string, rows []row) (out []row, err error) {
	slices.SortStableFunc(rows, func(a, b row) int { return compareRows(&a, &b) })
	var known []*runKeys
	for name := range m.nearby(hour, rows) {
		if m.Hours[name] == nil {
			continue
		}
		for _, f := range m.Hours[name].Runs {
			x, err := r.keysOf(ctx, runKey(r.shard, name, f.ID))
			if err != nil {
				return nil, err
			}
			known = append(known, x)
		}
	}
	for i := range rows {
		x := &rows[i]
		if n := len(out); n > 0 && out[n-1].page == x.page && out[n-1].id == x.id {
			continue
		}
		k := keyOf(x.id)
		if !slices.ContainsFunc(known, func(of *runKeys) bool { return of.has(x.page, k) }) {
			out = append(out, *x)
		}
	}
	return out, nil
}

// keysOf returns the keys of a run.
func (r *roller) keysOf(ctx context.Context, name string) (*runKeys, error) {
	if x := r.keys[name]; x != nil {
		return x, nil
	}
	x, err := r.b.loadKeys(ctx, name)
	if err != nil {
		return nil, r.missing(err)
	}
	r.keys[name] = x
	return x, nil
}

// missing makes of an object that is not there what it means: the manifest that names it is old.
func (r *roller) missing(err error) error {
	if errors.Is(err, bucket.ErrNotFound) {
		return fmt.Errorf("%w: %w", errLost, err)
	}
	return err
}

// sum stores what rows and counts add to the sums of an hour. A page view of which there are chunks already
// is added as it is now, and taken away as it was. Rows are sorted.
func (r *roller) sum(ctx context.Context, m *manifest, hour string, rows []row, counts []count) ([]file, error) {
	slices.SortStableFunc(counts, func(a, b count) int { return cmp.Compare(a.page, b.page) })
	to := r.ofHour(hour, false, 0)
	for len(rows)+len(counts) > 0 {
		page := firstPage(rows, counts)
		p := r.b.newPageSum(page)
		n := 0
		for n < len(rows) && rows[n].page == page {
			n++
		}
		if n > 0 {
			if err := r.sumPage(ctx, m, hour, p, rows[:n]); err != nil {
				return nil, err
			}
		}
		rows = rows[n:]
		for ; len(counts) > 0 && counts[0].page == page; counts = counts[1:] {
			p.addCount(&counts[0])
		}
		w, err := to.next(ctx)
		if err != nil {
			return nil, err
		}
		if err := w.add(page, p); err != nil {
			return nil, fmt.Errorf("write sums: %w", err)
		}
	}
	return to.finish(ctx)
}

// firstPage returns the first page that rows or counts are about.
func firstPage(rows []row, counts []count) string {
	if len(rows) == 0 || len(counts) > 0 && counts[0].page < rows[0].page {
		return counts[0].page
	}
	return rows[0].page
}

// sumPage adds rows of one page.
func (r *roller) sumPage(ctx context.Context, m *manifest, hour string, p *pageSum, rows []row) error {
	var views [][16]byte
	for i := range rows {
		if n := len(views); n == 0 || views[n-1] != rows[i].id.View {
			views = append(views, rows[i].id.View)
		}
		one := counted{traces: 1, first: rows[i].received, last: rows[i].received}
		p.counts.add(store.Tag{}, one)
		for _, t := range rows[i].tags {
			p.counts.add(t, one)
		}
	}
	var old []row
	for _, f := range m.runsOf(hour) {
		x, err := r.keysOf(ctx, runKey(r.shard, hour, f.ID))
		if err != nil {
			return err
		}
		got, err := x.readViews(ctx, rows[0].page, views)
		if err != nil {
			return r.missing(err)
		}
		old = append(old, got...)
	}
	slices.SortFunc(old, func(a, b row) int { return compareRows(&a, &b) })
	var d encode.BinaryDecoder
	for _, view := range views {
		was, is := takeView(&old, view), takeView(&rows, view)
		if len(was) > 0 {
			p.Begin(-1)
			r.addTraces(&d, p, was)
			p.End()
		}
		all := slices.Concat(was, is)
		slices.SortFunc(all, func(a, b row) int { return cmp.Compare(a.id.Chunk, b.id.Chunk) })
		p.Begin(1)
		r.bad += r.addTraces(&d, p, all)
		p.End()
	}
	return nil
}

// takeView cuts the rows of a page view off the beginning of sorted rows.
func takeView(rows *[]row, view [16]byte) []row {
	n := 0
	for n < len(*rows) && (*rows)[n].id.View == view {
		n++
	}
	out := (*rows)[:n:n]
	*rows = (*rows)[n:]
	return out
}

// addTraces adds the traces of a page view. It returns how many can not be read.
func (r *roller) addTraces(d *encode.BinaryDecoder, p *pageSum, rows []row) (bad int) {
	for i := range rows {
		doc, err := d.Decode(rows[i].payload, encode.FileLimits())
		if err != nil || doc.Trace == nil {
			bad++
			continue
		}
		p.Add(doc.Trace)
	}
	return bad
}

// commit has the manifest say what next says. It fails with [errLost] if another machine has written it since it
// was read.
func (r *roller) commit(ctx context.Context, next *manifest) error {
	next.Owner = r.n.instance
	if r.released {
		next.Owner = ""
	}
	return r.replace(ctx, next)
}

// replace is commit without a change of who rolls the shard up.
func (r *roller) replace(ctx context.Context, next *manifest) error {
	if took := r.b.Now().Sub(r.began); !r.began.IsZero() && (took > giveUpAfter || took < -sureOfTime) {
		return fmt.Errorf("give up rolling up shard %d: it took %v", r.shard, took)
	}
	next.Nonce, next.Of = rand.Text(), shardName(r.shard)
	body, err := next.encode(r.b.codec)
	if err != nil {
		return err
	}
	condition := bucket.Absent
	if r.tag != "" {
		condition = bucket.Is(r.tag)
	}
	turn := r.b.turn()
	tag, err := r.b.Put(ctx, manifestKey(r.shard), body, condition)
	if errors.Is(err, bucket.ErrConflict) {
		return errLost
	}
	if err != nil { // it may have been stored
		got, gerr := r.b.Get(ctx, manifestKey(r.shard), maxManifest, "")
		if gerr != nil {
			return fmt.Errorf("write the manifest of shard %d: %w", r.shard, errors.Join(err, gerr))
		}
		m, gerr := r.b.decodeManifest(r.shard, got.Body)
		if gerr != nil || m.Nonce != next.Nonce {
			return errors.Join(errLost, gerr)
		}
		tag = got.Tag
	}
	r.m, r.tag = next, tag
	r.n.did.rolled.Add(uint64(r.fresh))
	r.n.did.duplicates.Add(uint64(r.duplicates))
	r.n.did.unreadable.Add(uint64(r.bad))
	r.fresh, r.duplicates, r.bad = 0, 0, 0
	r.b.know(r.shard, next, tag, turn)
	r.made = nil
	// Keys are read again where they are needed: what comes late is rare, and those of a week do not fit into memory.
	named := next.names(r.shard)
	now := hourOf(r.b.Now())
	near := []string{"/" + hourAfter(now, -1) + "/", "/" + now + "/", "/" + hourAfter(now, 1) + "/"}
	maps.DeleteFunc(r.keys, func(name string, _ *runKeys) bool {
		return !named[name] || !slices.ContainsFunc(near, func(hour string) bool { return strings.Contains(name, hour) })
	})
	return nil
}

// maxAbandoned bounds how many objects are remembered of commits that failed.
const maxAbandoned = 10_000

// deletable reports whether an object that no manifest names may be deleted: if this process has put it and given it up, or if
// the hour or day in its name is older than what is kept. Any other one may have been named by a manifest that was lost, or
// that an older one has taken the place of.
func (r *roller) deletable(m *manifest, key string, now time.Time) bool {
	if r.abandoned[key] {
		return true
	}
	kind, rest, _ := strings.Cut(key, "/")
	_, rest, _ = strings.Cut(rest, "/")
	name, _, _ := strings.Cut(rest, "/")
	kept := r.n.opts.kept(m)
	switch kind {
	case "raw":
		return expired(name, time.Duration(kept.Traces), now)
	case "hours":
		return expired(name, time.Duration(kept.Hours), now)
	case "days":
		return expired(name+"T23", time.Duration(kept.Days), now)
	}
	return false
}
