package encode

import (
	"encoding/hex"
	"math"
	"slices"

	"github.com/fieldtrie/fieldtrie/encode/internal/input"
	"github.com/fieldtrie/fieldtrie/trie"
)

// readContext reads the value of the last key, which is not a table.
func (d *profilerTrace) readContext() {
	c := &d.context
	switch string(d.Name) {
	case "page":
		c.Page = pagePath(string(d.Str()))
		d.checkLength("page", len(c.Page))
	case "timeOrigin":
		c.TimeOrigin = d.time("timeOrigin", 1<<62)
	case "interval":
		var ok bool
		if c.Interval, ok = interval(d.Float()); !ok {
			d.invalid("interval", "not over 0 to 60000 ms")
		}
	case "ua":
		d.browser = BrowserOf(string(d.Str()))
	case "viewId":
		c.ViewID = d.viewID()
	case "chunk":
		c.Chunk = d.position("chunk")
	case "release":
		c.Release = d.text("release")
	case "environment":
		c.Environment = d.text("environment")
	case "samplingShare":
		if c.SamplingShare = d.Float(); !(c.SamplingShare > 0 && c.SamplingShare <= 1) {
			d.invalid("samplingShare", "not over 0 to 1")
		}
	case "labels":
		d.readLabels()
	case "spans":
		d.readSpans()
	case "cost":
		d.readCost()
	default:
		d.Skip()
	}
}

// text reads a string and copies it.
func (d *profilerTrace) text(key string) string {
	s := string(d.Str())
	d.checkLength(key, len(s))
	return s
}

func (d *profilerTrace) viewID() string {
	s := string(d.Str())
	if len(s) == 32 {
		if b, err := hex.DecodeString(s); err == nil {
			return string(b)
		}
	}
	if len(s) > 16 {
		d.invalid("viewId", "neither up to 16 bytes nor 32 hexadecimal digits")
	}
	return s
}

func (d *profilerTrace) readLabels() {
	var labels trie.Labels
	for d.Object(); d.Key(); {
		key := string(d.Name)
		if key == "" {
			d.invalid("labels", "a label has no name")
		}
		d.checkLength("labels", len(key))
		value := d.text("labels")
		i := slices.IndexFunc(labels, func(l trie.Label) bool { return l.Key == key })
		if i < 0 {
			i, labels = len(labels), append(labels, trie.Label{Key: key})
		}
		labels[i].Value = value
		if len(labels) > d.lim.Labels {
			d.Stop(input.Refuse(input.TooLarge, "labels", "more than %d", d.lim.Labels))
		}
	}
	d.context.Labels = labels
}

func (d *profilerTrace) readSpans() {
	d.context.Spans = nil
	where := d.where
	d.table, d.row, d.where = "spans", -1, ""
	for d.Array(); d.Element(); {
		if d.row++; d.row == d.lim.Spans {
			d.Stop(input.Refuse(input.TooLarge, "spans", "more than %d", d.lim.Spans))
			break
		}
		if d.context.Spans = append(d.context.Spans, d.span()); d.Err != nil {
			break
		}
	}
	if d.Err == nil {
		d.table, d.where = "", where
	}
}

func (d *profilerTrace) span() trie.Span {
	var s trie.Span
	var start, end, named bool
	var until int64
	for d.Object(); d.Key(); {
		switch key := string(d.Name); key {
		case "page", "feature", "label":
			if named {
				d.invalid(key, "a span has one name")
			}
			named = true
			d.spanName(&s, key)
		case "start":
			s.Start, start = d.time("start", trie.MaxTime), true
		case "end":
			until, end = d.time("end", trie.MaxTime), true
		default:
			d.Skip()
		}
	}
	d.require("feature", named)
	d.require("start", start)
	d.require("end", end)
	if s.Length = until - s.Start; s.Length < 0 {
		d.invalid("end", "before start")
	}
	return s
}

// spanName reads the name of s; key gives its kind.
func (d *profilerTrace) spanName(s *trie.Span, key string) {
	s.Name = d.text(key)
	switch key {
	case "page":
		s.Kind, s.Name = trie.SpanPage, pagePath(s.Name)
	case "feature":
		s.Kind = trie.SpanFeature
	case "label":
		s.Kind = trie.SpanLabel
		if l := s.Label(); l.Key == "" || l.Value == "" {
			d.invalid(key, "%q is not KEY=VALUE", s.Name)
		}
	}
	if s.Name == "" {
		d.invalid(key, "empty")
	}
}

func (d *profilerTrace) readCost() {
	d.cost = trie.Cost{}
	for d.Object(); d.Key(); {
		switch string(d.Name) {
		case "start":
			d.cost.Start = d.spent("cost.start")
		case "stop":
			d.cost.Stop = d.spent("cost.stop")
		case "encode":
			d.cost.Encode = d.spent("cost.encode")
		case "bytes":
			d.cost.Bytes = d.position("cost.bytes")
		case "dropped":
			d.cost.Dropped = d.position("cost.dropped")
		default:
			d.Skip()
		}
	}
}

// spent reads a duration of work in milliseconds and returns microseconds.
func (d *profilerTrace) spent(key string) uint32 {
	if d.Null() {
		return 0
	}
	us := d.time(key, math.MaxUint32)
	if us < 0 {
		d.invalid(key, "out of range")
	}
	return uint32(us)
}

// microseconds returns a time in milliseconds as whole microseconds, and whether it is
// a number from -most to most.
func microseconds(ms, most float64) (int64, bool) {
	us := math.Round(ms * 1000)
	if !(us >= -most && us <= most) {
		return 0, false
	}
	return int64(us), true
}

// maxInterval is the longest sensible sampling interval, in microseconds.
const maxInterval = 60_000_000

// interval returns a sampling interval in milliseconds as whole microseconds.
func interval(ms float64) (uint32, bool) {
	us, ok := microseconds(ms, maxInterval)
	return uint32(us), ok && us > 0
}

// estimateInterval estimates the sampling interval, in microseconds, from the times of
// samples: their median distance, to the millisecond.
func estimateInterval(samples []trie.Sample) uint32 {
	const usual = 10_000
	var gaps []int64
	for i := 1; i < len(samples); i++ {
		if gap := samples[i].Time - samples[i-1].Time; gap > 0 {
			gaps = append(gaps, gap)
		}
	}
	if len(gaps) < 4 {
		return usual
	}
	slices.Sort(gaps)
	median := (gaps[(len(gaps)-1)/2] + gaps[len(gaps)/2]) / 2
	return uint32(min(max((median+500)/1000*1000, 1000), maxInterval))
}
