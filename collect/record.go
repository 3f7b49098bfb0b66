package collect

import (
	"crypto/sha256"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/collect/redact"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/rules/feature"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
)

// incoming is a trace between request and store.
type incoming struct {
	data    []byte // as received
	binary  bool
	who     client
	now     time.Time
	decoder *encode.BinaryDecoder // the trace may share its memory

	trace   *trie.Trace
	id      store.ID
	claimed int64 // µs that its view had not claimed before
	changed bool  // more than the context differs from data
	tally   tally
	pages   []string
	payload []byte
}

// recordStep is one step of making a record from a trace. An error stops the remaining steps.
type recordStep struct {
	name string
	do   func(*Collector, *incoming) error
}

// recordSteps are all steps. Their order matters: each relies on earlier ones.
var recordSteps = []recordStep{
	{"decode", (*Collector).decodeIncoming},
	{"claim view time", (*Collector).claimTime}, // before time is spent on implausible samples
	{"thin spans", (*Collector).thinSpans},      // or the following steps take too long
	{"normalize", func(c *Collector, in *incoming) error { // before anything is named or logged
		in.changed = c.normalize(in.trace, in.id, in.who, in.now) || in.changed
		return nil
	}},
	{"name pages by site", func(c *Collector, in *incoming) error { // sites share the budget of pages
		c.sites.rename(in.trace, in.who)
		return nil
	}},
	{"label browser", func(c *Collector, in *incoming) error { // it is folded like other labels
		addBrowser(&in.trace.Context, in.who.browser, c.bounds.Load().Trace.Labels)
		return nil
	}},
	{"tally", (*Collector).tallyIncoming}, // by its first page, even if that has no place
	{"fold names", func(c *Collector, in *incoming) error {
		c.foldNames(in.trace, in.who, in.now)
		return nil
	}},
	{"fold pages", func(c *Collector, in *incoming) error {
		in.pages = c.nameFolded(in.trace, in.who, in.now)
		return nil
	}},
	{"limit page rate", (*Collector).limitPageRate}, // pages without a place share a rate
	{"validate", func(_ *Collector, in *incoming) error { // an invalid record could not be read back
		if err := in.trace.Context.Validate(); err != nil {
			return refuse(http.StatusUnprocessableEntity, "invalid", "invalid: %w", err)
		}
		return nil
	}},
	{"add features", func(c *Collector, in *incoming) error { // rules match pages and scripts as they are stored
		c.addFeatures(in.trace)
		return nil
	}},
	{"encode", (*Collector).encodeIncoming},
}

// record converts a trace as sent by a browser to a record as it is stored.
func (c *Collector) record(data []byte, binary bool, who client) (store.Record, tally, error) {
	in := &incoming{data: data, binary: binary, who: who, now: c.opts.Now(),
		decoder: c.decoders.Get().(*encode.BinaryDecoder)}
	defer c.decoders.Put(in.decoder) // the trace shares its memory, so only at the end
	for _, step := range recordSteps {
		if err := step.do(c, in); err != nil {
			c.viewTimes.giveBack(in.id, in.claimed)
			return store.Record{}, in.tally, err
		}
	}
	return store.Record{ID: in.id, Pages: in.pages, Tags: c.tagsOf(in.trace), Payload: in.payload}, in.tally, nil
}

// decodeIncoming decodes the trace and sets its id.
func (c *Collector) decodeIncoming(in *incoming) error {
	doc, err := c.decodeTrace(in.decoder, in.data, in.binary)
	switch encode.KindOf(err) {
	case encode.Malformed:
		return refuse(http.StatusBadRequest, "malformed", "%w", err)
	case encode.Invalid:
		return refuse(http.StatusUnprocessableEntity, "invalid", "%w", err)
	case encode.TooLarge:
		return refuse(http.StatusRequestEntityTooLarge, "trace_size", "%w", err)
	}
	if err != nil {
		return err
	}
	in.trace = doc.Trace
	if in.trace == nil {
		return refuse(http.StatusUnprocessableEntity, "invalid",
			"invalid: it is a profile, which has no times; send traces")
	}
	if n := in.trace.Context.Chunk; n >= maxChunks {
		return refuse(http.StatusUnprocessableEntity, "invalid",
			"invalid: chunk %d: a page view has up to %d, of a minute each for a day", n, maxChunks)
	}
	in.id = traceID(&in.trace.Context, in.data)
	return nil
}

// claimTime cuts off samples that claim more time than the page view can have.
func (c *Collector) claimTime(in *incoming) (err error) {
	in.changed, err = believe(in.trace, func(us int64) (granted int64) {
		granted, in.claimed = c.viewTimes.claim(in.id, us, in.now)
		return granted
	})
	if in.changed {
		c.metrics.cut.Inc()
	}
	return err
}

func (c *Collector) thinSpans(in *incoming) error {
	x := &in.trace.Context
	if n := len(x.Spans); n > maxAtOnce {
		x.Spans = thin(x.Spans)
		c.metrics.thinned.Add(float64(n - len(x.Spans)))
	}
	return nil
}

func (c *Collector) tallyIncoming(in *incoming) error {
	x := &in.trace.Context
	in.tally = tally{
		who: in.who, id: in.id, claimed: in.claimed, page: x.Page, first: x.Chunk == 0 && x.ViewID != "",
		cost: in.trace.Cost, profiled: profiledTime(in.trace), marked: marked(in.trace),
	}
	return nil
}

func (c *Collector) limitPageRate(in *incoming) error {
	if page := in.trace.Context.Page; !c.bounds.Load().pageRates.allow(page, in.who.Network, in.now) {
		return refuse(http.StatusTooManyRequests, "page_rate",
			"over %g traces a second of page %.80s; send this again later", c.bounds.Load().PageRate, page)
	}
	return nil
}

// encodeIncoming encodes the trace. For nearly all traces only the context has changed.
func (c *Collector) encodeIncoming(in *incoming) (err error) {
	if in.binary && !in.changed {
		in.payload, err = encode.ReplaceContext(in.data, &in.trace.Context)
	} else {
		in.payload, err = encode.EncodeTrace(in.trace)
	}
	if err != nil {
		return refuse(http.StatusUnprocessableEntity, "invalid", "trace: %w", err)
	}
	return nil
}

// maxChunks is the maximum number of chunks of a page view, and thus of traces with one id.
const maxChunks = 24 * 60

// maxAtOnce is the maximum number of overlapping spans. Every query cuts a trace at the bounds of
// its spans, and stores for each piece which spans cover it.
const maxAtOnce = 32

// thin drops spans that begin while maxAtOnce other spans are active. The spans must be sorted. A
// page lasts until the next page begins, so pages are kept.
func thin(spans []trie.Span) []trie.Span {
	var ends []int64 // ends of the active spans
	return slices.DeleteFunc(spans, func(s trie.Span) bool {
		ends = slices.DeleteFunc(ends, func(end int64) bool { return end <= s.Start })
		if len(ends) >= maxAtOnce-1 && s.Kind != trie.SpanPage {
			return true
		}
		ends = append(ends, s.End())
		return false
	})
}

// traceID returns the id of a trace. The SDK sends a random view id and numbers its chunks. A trace
// without a view id gets a hash of its bytes, so that a retry is still recognised.
func traceID(x *trie.Context, data []byte) store.ID {
	id := store.ID{Chunk: x.Chunk}
	switch {
	case x.ViewID == "":
		sum := sha256.Sum256(data)
		copy(id.View[:], sum[:])
	case len(x.ViewID) == len(id.View) && strings.ContainsFunc(x.ViewID, func(r rune) bool {
		return r < ' ' || r > '~'
	}):
		copy(id.View[:], x.ViewID)
	default: // a text, which may contain more than an identifier
		sum := sha256.Sum256([]byte(x.ViewID))
		copy(id.View[:], sum[:])
	}
	return id
}

// normalize converts t to its stored form, except for the budget of names: it removes personal
// data, replaces paths by pages, and replaces foreign code by one frame. It reports whether it
// changed anything but the context.
func (c *Collector) normalize(t *trie.Trace, id store.ID, who client, now time.Time) bool {
	repaired := encode.Repair(t)
	x := &t.Context
	t.Unknown, x.Unknown = nil, nil // unknown fields may contain personal data
	if x.ViewID != "" {
		x.ViewID = string(id.View[:])
	}
	// A page may have been open for days, so the last sample is used for the clock check.
	last := x.TimeOrigin
	if n := len(t.Samples); n > 0 {
		last += t.Samples[n-1].Time
	}
	if x.TimeOrigin != 0 && now.Sub(time.UnixMicro(last)).Abs() > c.bounds.Load().Skew {
		x.TimeOrigin = 0
		c.metrics.skewed.Inc()
	}
	var r redact.Redactor
	x.Release, x.Environment = cutName(r.Text(x.Release)), cutName(r.Text(x.Environment))
	for i, l := range x.Labels {
		x.Labels[i] = trie.Label{Key: cutName(r.Name(l.Key)), Value: cutName(r.Text(l.Value))}
	}
	x.Labels = slices.CompactFunc(x.Labels.Sort(), sameKey)
	inline := map[string]string{} // pages by path as sent, which may contain personal data
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
		case trie.SpanLabel: // key and value separately, so that the = stays
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

// longestText is the maximum number of bytes of a label, feature, release or environment that are
// read. Names between longestName and this length are truncated: one long label must not cost a
// trace.
const longestText = 1 << 20

// longestName is the maximum length of a stored name in bytes, which the catalogue limits.
const longestName = store.MaxTagValue

// cutName truncates a long name and appends an ellipsis.
func cutName(s string) string {
	if len(s) <= longestName {
		return s
	}
	return strings.ToValidUTF8(s[:longestName-len("…")], "") + "…"
}

// tagsOf returns the tags of t that the catalogue counts. Tags beyond the limits of a record are
// dropped from the catalogue, not from the trace.
func (c *Collector) tagsOf(t *trie.Trace) []store.Tag {
	tags, left := store.TagsOf(t)
	c.metrics.untagged.Add(float64(left))
	return tags
}

// SetFeatures replaces the rules for features. It may be called while requests are served. Stored
// features are not changed.
func (c *Collector) SetFeatures(r feature.Rules) { c.features.Store(&r) }

// addFeatures adds the features of matching rules to t. Rules match pages and scripts in their
// stored form. They have as many features as the file, so they are not subject to the budget of
// names.
func (c *Collector) addFeatures(t *trie.Trace) {
	skipped := c.features.Load().Apply(t, feature.Bounds{Spans: c.bounds.Load().Trace.Spans, AtOnce: maxAtOnce})
	c.metrics.unruled.Add(float64(skipped))
}
