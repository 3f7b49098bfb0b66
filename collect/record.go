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

// incoming is a trace on its way from what was sent to what is stored.
type incoming struct {
	data    []byte // as it was sent
	binary  bool
	who     client
	now     time.Time
	decoder *encode.BinaryDecoder // that the trace may be part of

	trace   *trie.Trace
	id      store.ID
	claimed int64 // µs that are new for its view
	changed bool  // more than the context is another than was sent
	tally   tally
	pages   []string
	payload []byte
}

// recordStep is one of the steps that make a record of a trace. An error ends them.
type recordStep struct {
	name string
	do   func(*Collector, *incoming) error
}

// recordSteps are all of them. Their order matters: what a step relies on is done before it.
var recordSteps = []recordStep{
	{"decode", (*Collector).decodeIncoming},
	{"claim view time", (*Collector).claimTime}, // before time is spent on samples that nobody believes
	{"thin spans", (*Collector).thinSpans},      // or what follows takes too long
	{"normalize", func(c *Collector, in *incoming) error { // nothing that was sent is named or logged before
		in.changed = c.normalize(in.trace, in.id, in.who, in.now) || in.changed
		return nil
	}},
	{"name pages by site", func(c *Collector, in *incoming) error { // sites share out pages
		c.sites.rename(in.trace, in.who)
		return nil
	}},
	{"label browser", func(c *Collector, in *incoming) error { // which is folded as other labels are
		addBrowser(&in.trace.Context, in.who.browser, c.bounds.Load().Trace.Labels)
		return nil
	}},
	{"tally", (*Collector).tallyIncoming}, // by the page that it began on, whether or not there is room for that
	{"fold names", func(c *Collector, in *incoming) error {
		c.foldNames(in.trace, in.who, in.now)
		return nil
	}},
	{"fold pages", func(c *Collector, in *incoming) error {
		in.pages = c.nameFolded(in.trace, in.who, in.now)
		return nil
	}},
	{"limit page rate", (*Collector).limitPageRate}, // pages without room share a rate
	{"validate", func(_ *Collector, in *incoming) error { // or nobody could read it
		if err := in.trace.Context.Validate(); err != nil {
			return refuse(http.StatusUnprocessableEntity, "invalid", "invalid: %w", err)
		}
		return nil
	}},
	{"add features", func(c *Collector, in *incoming) error { // rules are about pages and scripts as they are stored
		c.addFeatures(in.trace)
		return nil
	}},
	{"encode", (*Collector).encodeIncoming},
}

// record reads one trace as it was sent by a browser and returns it as it is stored.
func (c *Collector) record(data []byte, binary bool, who client) (store.Record, tally, error) {
	in := &incoming{data: data, binary: binary, who: who, now: c.opts.Now(), decoder: c.decoders.Get().(*encode.BinaryDecoder)}
	defer c.decoders.Put(in.decoder) // the trace is part of it, so not before the end
	for _, step := range recordSteps {
		if err := step.do(c, in); err != nil {
			c.viewTimes.giveBack(in.id, in.claimed)
			return store.Record{}, in.tally, err
		}
	}
	return store.Record{ID: in.id, Pages: in.pages, Tags: c.tagsOf(in.trace), Payload: in.payload}, in.tally, nil
}

// decodeIncoming reads the trace and names it.
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
		return refuse(http.StatusUnprocessableEntity, "invalid", "invalid: it is a profile, which has no times; send traces")
	}
	if n := in.trace.Context.Chunk; n >= maxChunks {
		return refuse(http.StatusUnprocessableEntity, "invalid", "invalid: chunk %d: a page view has up to %d, of a minute each for a day", n, maxChunks)
	}
	in.id = traceID(&in.trace.Context, in.data)
	return nil
}

// claimTime cuts off the samples that the page view can not have.
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
		return refuse(http.StatusTooManyRequests, "page_rate", "over %g traces a second of page %.80s; send this again later", c.bounds.Load().PageRate, page)
	}
	return nil
}

// encodeIncoming writes the trace. Of nearly all the context alone is another than was sent.
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

// SetFeatures replaces the rules for features. It may be called while traces are received.
// Those that are stored stay as they are.
func (c *Collector) SetFeatures(r feature.Rules) { c.features.Store(&r) }

// addFeatures adds to t the features that rules name. The rules are about pages and scripts
// as they are stored, and their features are as few as the file has, so they need no room
// among those that pages name.
func (c *Collector) addFeatures(t *trie.Trace) {
	skipped := c.features.Load().Apply(t, feature.Bounds{Spans: c.bounds.Load().Trace.Spans, AtOnce: maxAtOnce})
	c.metrics.unruled.Add(float64(skipped))
}
