package collect

import (
	"crypto/sha256"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
)

// record reads one trace as it was sent and returns it as it is stored.
func (c *Collector) record(data []byte) (store.Record, error) {
	d := c.decoders.Get().(*encode.BinaryDecoder)
	defer c.decoders.Put(d) // the trace is part of it, so not before the end
	t, err := c.decode(d, data)
	if err != nil {
		return store.Record{}, err
	}
	c.normalize(t)
	payload, err := encode.EncodeTrace(t)
	if err != nil {
		return store.Record{}, refuse(http.StatusUnprocessableEntity, "invalid", "trace: %w", err)
	}
	pages := t.Pages()
	if len(pages) > store.MaxPages {
		return store.Record{}, refuse(http.StatusUnprocessableEntity, "invalid",
			"trace: context.span: %d pages in one trace, the most is %d", len(pages), store.MaxPages)
	}
	return store.Record{ID: traceID(&t.Context, data), Pages: pages, Tags: tags(t, pages), Payload: payload}, nil
}

// decode reads a trace in any format that clients send.
func (c *Collector) decode(d *encode.BinaryDecoder, data []byte) (*trie.Trace, error) {
	var t *trie.Trace
	var err error
	if encode.IsBinary(data) {
		var doc encode.Document
		if doc, err = d.Decode(data, c.Limits.Trace); err == nil && doc.Trace == nil {
			return nil, refuse(http.StatusUnprocessableEntity, "invalid", "a profile; send traces")
		}
		t = doc.Trace
	} else {
		t, err = encode.DecodeTraceJSON(data, c.Limits.Trace)
	}
	switch encode.KindOf(err) {
	case encode.Malformed:
		return nil, refuse(http.StatusBadRequest, "malformed", "%w", err)
	case encode.Invalid:
		return nil, refuse(http.StatusUnprocessableEntity, "invalid", "%w", err)
	case encode.TooLarge:
		return nil, refuse(http.StatusRequestEntityTooLarge, "trace_size", "%w", err)
	}
	return t, err
}

// normalize makes t what is stored: no text that could name a person, pages instead of
// paths, foreign code as one frame.
func (c *Collector) normalize(t *trie.Trace) {
	encode.Repair(t)
	c.hideForeign(t)
	now := c.Now()
	x := &t.Context
	if skew := now.Sub(time.UnixMicro(x.TimeOrigin)).Abs(); x.TimeOrigin != 0 && skew > c.Limits.Skew {
		x.TimeOrigin = 0
		c.metrics.skewed.Inc()
	}
	x.Page = c.page(x.Page, now)
	spans := false
	for i, s := range x.Spans {
		if s.Kind == trie.SpanPage {
			x.Spans[i].Name = c.page(s.Name, now)
			spans = true
		}
	}
	if spans {
		trie.SortSpans(x.Spans)
	}
}

// page returns the page of a path, or PageOther if there are too many this hour.
func (c *Collector) page(path string, now time.Time) string {
	page := c.Pages.Page(path)
	if c.pages.take(page, now) {
		return page
	}
	c.metrics.folded.Inc()
	return PageOther
}

// hideForeign makes one frame of each run of code that is not the site's own.
func (c *Collector) hideForeign(t *trie.Trace) {
	rename := func(f trie.Frame) trie.Frame { return f }
	if len(c.FirstParty) > 0 {
		rename = c.renameForeign
	}
	for i := range t.Frames {
		f := t.FrameOf(trie.FrameID(i))
		if g := rename(f); g != f || g.Foreign() {
			*t = *t.Coalesce(rename)
			return
		}
	}
}

// renameForeign returns the frame for code of another host.
func (c *Collector) renameForeign(f trie.Frame) trie.Frame {
	u, err := url.Parse(strings.TrimPrefix(f.Resource, "blob:"))
	if f.Resource == "" || err != nil || u.Host == "" {
		return f
	}
	for _, h := range c.FirstParty {
		if strings.EqualFold(u.Hostname(), h) || strings.EqualFold(u.Host, h) {
			return f
		}
		if suffix, ok := strings.CutPrefix(h, "*."); ok && strings.HasSuffix(u.Hostname(), "."+suffix) {
			return f
		}
	}
	return trie.ThirdParty(u.Hostname())
}

// traceID names a trace. The SDK sends a random view id and numbers its chunks; the
// bytes of a trace without one name it, so that a retry is recognised all the same.
func traceID(x *trie.Context, data []byte) store.ID {
	id := store.ID{Chunk: x.Chunk}
	switch len(x.ViewID) {
	case 0:
		sum := sha256.Sum256(data)
		copy(id.View[:], sum[:])
	case len(id.View):
		copy(id.View[:], x.ViewID)
	default:
		sum := sha256.Sum256([]byte(x.ViewID))
		copy(id.View[:], sum[:])
	}
	return id
}

// tags returns what the catalogue counts of t. What is over the store's limits is left
// out of the catalogue, not of the trace.
func tags(t *trie.Trace, pages []string) []store.Tag {
	var out []store.Tag
	add := func(key, value string) {
		tag := store.Tag{Key: key, Value: value}
		if value != "" && len(value) <= store.MaxTagValue && len(out) < store.MaxTags &&
			!strings.ContainsRune(value, 0) && !slices.Contains(out, tag) {
			out = append(out, tag)
		}
	}
	add("release", t.Context.Release)
	add("environment", t.Context.Environment)
	for _, p := range pages {
		for _, f := range t.Features(p) {
			add("feature", f)
		}
	}
	return out
}
