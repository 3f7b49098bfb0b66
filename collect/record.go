package collect

import (
	"crypto/sha256"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/collect/redact"
	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
)

// record reads one trace as it was sent by a browser and returns it as it is stored.
func (c *Collector) record(data []byte, binary bool, who client) (rec store.Record, sum tally, err error) {
	d := c.decoders.Get().(*encode.BinaryDecoder)
	defer c.decoders.Put(d) // the trace is part of it, so not before the end
	doc, err := c.decodeTrace(d, data, binary)
	switch encode.KindOf(err) {
	case encode.Malformed:
		return rec, sum, refuse(http.StatusBadRequest, "malformed", "%w", err)
	case encode.Invalid:
		return rec, sum, refuse(http.StatusUnprocessableEntity, "invalid", "%w", err)
	case encode.TooLarge:
		return rec, sum, refuse(http.StatusRequestEntityTooLarge, "trace_size", "%w", err)
	}
	if err != nil {
		return rec, sum, err
	}
	t := doc.Trace
	if t == nil {
		return rec, sum, refuse(http.StatusUnprocessableEntity, "invalid", "invalid: it is a profile, which has no times; send traces")
	}
	if n := t.Context.Chunk; n >= maxChunks {
		return rec, sum, refuse(http.StatusUnprocessableEntity, "invalid", "invalid: chunk %d: a page view has up to %d, of a minute each for a day", n, maxChunks)
	}
	now := c.opts.Now()
	id := traceID(&t.Context, data)
	claimed, cut, err := believe(t, func(us int64) int64 { return c.viewTimes.claim(id.View, us, now) })
	if err != nil {
		return rec, sum, err
	}
	defer func() {
		if err != nil {
			c.viewTimes.giveBack(id.View, claimed)
		}
	}()
	if cut {
		c.metrics.cut.Inc()
	}
	if n := len(t.Context.Spans); n > maxAtOnce {
		t.Context.Spans = thin(t.Context.Spans)
		c.metrics.thinned.Add(float64(n - len(t.Context.Spans)))
	}
	changed := c.normalize(t, id, who, now) || cut
	c.sites.rename(t, who)
	addBrowser(&t.Context, who.browser, c.limits.Trace.Labels)
	sum = tally{who: who, view: id.View, claimed: claimed, page: t.Context.Page, first: t.Context.Chunk == 0 && t.Context.ViewID != "", cost: t.Cost, profiled: profiledTime(t)}
	c.foldNames(t, who, now)
	pages := c.nameFolded(t, who, now)
	if page := t.Context.Page; !c.pageRates.allow(page, who.Network, now) {
		return rec, sum, refuse(http.StatusTooManyRequests, "page_rate", "over %g traces a second of page %.80s; send this again later", c.limits.PageRate, page)
	}
	if err := t.Context.Validate(); err != nil { // or nobody could read it
		return rec, sum, refuse(http.StatusUnprocessableEntity, "invalid", "invalid: %w", err)
	}
	c.addFeatures(t)
	// Of nearly all traces the context alone is another than was sent.
	var payload []byte
	if binary && !changed {
		payload, err = encode.ReplaceContext(data, &t.Context)
	} else {
		payload, err = encode.EncodeTrace(t)
	}
	if err != nil {
		return rec, sum, refuse(http.StatusUnprocessableEntity, "invalid", "trace: %w", err)
	}
	return store.Record{ID: id, Pages: pages, Tags: c.tagsOf(t), Payload: payload}, sum, nil
}

// maxChunks bounds the chunks of a page view, and with them what comes under one id.
const maxChunks = 24 * 60

// maxAtOnce bounds how many spans of a trace may overlap. Every query cuts a trace at
// the bounds of its spans and notes for each piece which of them cover it.
const maxAtOnce = 32

// thin drops those of the spans, which are sorted, that begin while maxAtOnce others last.
// A page lasts until the next one, so pages are kept.
func thin(spans []trie.Span) []trie.Span {
	var ends []int64 // of the spans that last
	return slices.DeleteFunc(spans, func(s trie.Span) bool {
		ends = slices.DeleteFunc(ends, func(end int64) bool { return end <= s.Start })
		if len(ends) >= maxAtOnce-1 && s.Kind != trie.SpanPage {
			return true
		}
		ends = append(ends, s.End())
		return false
	})
}

// traceID names a trace. The SDK sends a random view id and numbers its chunks; the
// bytes of a trace without one name it, so that a retry is recognised all the same.
func traceID(x *trie.Context, data []byte) store.ID {
	id := store.ID{Chunk: x.Chunk}
	switch {
	case x.ViewID == "":
		sum := sha256.Sum256(data)
		copy(id.View[:], sum[:])
	case len(x.ViewID) == len(id.View) && strings.ContainsFunc(x.ViewID, func(r rune) bool { return r < ' ' || r > '~' }):
		copy(id.View[:], x.ViewID)
	default: // a text, which may say more than that two traces belong together
		sum := sha256.Sum256([]byte(x.ViewID))
		copy(id.View[:], sum[:])
	}
	return id
}

// normalize makes t what is stored, but for the budget of pages: no text that could
// name a person, pages instead of paths, foreign code as one frame.
// It reports whether it changed anything but the context.
func (c *Collector) normalize(t *trie.Trace, id store.ID, who client, now time.Time) bool {
	repaired := encode.Repair(t)
	x := &t.Context
	t.Unknown, x.Unknown = nil, nil // nobody can say what it holds
	if x.ViewID != "" {
		x.ViewID = string(id.View[:])
	}
	// A page may have been open for days, so it is the last sample that tells.
	last := x.TimeOrigin
	if n := len(t.Samples); n > 0 {
		last += t.Samples[n-1].Time
	}
	if x.TimeOrigin != 0 && now.Sub(time.UnixMicro(last)).Abs() > c.limits.Skew {
		x.TimeOrigin = 0
		c.metrics.skewed.Inc()
	}
	var r redact.Redactor
	x.Release, x.Environment = cutName(r.Text(x.Release)), cutName(r.Text(x.Environment))
	for i, l := range x.Labels {
		x.Labels[i] = trie.Label{Key: cutName(r.Name(l.Key)), Value: cutName(r.Text(l.Value))}
	}
	x.Labels = slices.CompactFunc(x.Labels.Sort(), sameKey)
	inline := map[string]string{} // pages by the paths that were sent, which say more than they do
	pages := map[string]string{}  // by path
	pageOfPath := func(path string) string {
		if page, ok := pages[path]; ok {
			return page
		}
		page := c.opts.Pages.page(path, &r)
		if pageOf(segmentsOf(pathOf(path))) != page {
			inline[path] = page
		}
		pages[path] = page
		return page
	}
	x.Page = pageOfPath(x.Page)
	for i, s := range x.Spans {
		switch s.Kind {
		case trie.SpanPage:
			x.Spans[i].Name = pageOfPath(s.Name)
		case trie.SpanLabel: // by its parts, or the = between them could go too
			l := s.Label()
			x.Spans[i].Name = cutName(r.Name(l.Key)) + "=" + cutName(r.Name(l.Value))
		default:
			x.Spans[i].Name = cutName(r.Name(s.Name))
		}
	}
	trie.SortSpans(x.Spans)
	hidden := c.hideFrames(t, inline, &r, who.host)
	return repaired || hidden
}

// longestText bounds what is read of a label, a feature, a release or an environment, in bytes. Few of them are longer than
// longestName, and those are cut: an odd label must not cost a trace.
const longestText = 1 << 20

// longestName is what is kept of one, in bytes: the catalogue takes no more.
const longestName = store.MaxTagValue

// cutName returns a name, or the beginning of a longer one with an ellipsis.
func cutName(s string) string {
	if len(s) <= longestName {
		return s
	}
	return strings.ToValidUTF8(s[:longestName-len("…")], "") + "…"
}

// tagsOf returns what the catalogue counts of t. What is over the limits of a record is
// left out of the catalogue, not of the trace.
func (c *Collector) tagsOf(t *trie.Trace) []store.Tag {
	tags, left := store.TagsOf(t)
	c.metrics.untagged.Add(float64(left))
	return tags
}
