package v8

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/fieldtrie/fieldtrie/encode/internal/input"
	"github.com/fieldtrie/fieldtrie/trie"
)

// recording makes threads from the data.
func (d *traceReader) recording() (*trie.Recording, error) {
	profiles := append(d.byOrder, d.hermes.profiles(d.v8Tables)...)
	origin := d.origin(profiles)
	out := &trie.Recording{}
	threads := map[threadKey]int{}
	thread := func(k threadKey) *trie.Thread {
		i, ok := threads[k]
		if !ok {
			i = len(out.Threads)
			threads[k] = i
			t := trie.Thread{Process: k.pid, ID: k.tid, ProcessName: d.process[k.pid]}
			if from := d.threads[k]; from != nil {
				t.Name = from.name
			}
			out.Threads = append(out.Threads, t)
		}
		return &out.Threads[i]
	}
	headless := 0
	for _, p := range profiles {
		if len(p.samples) == 0 {
			continue
		}
		if !p.headed {
			headless++
		}
		stream, err := d.streamOf(p, origin)
		if err != nil { // the others may be whole
			if len(profiles) == 1 {
				return nil, err
			}
			d.warn("%v; it was left out", err)
			continue
		}
		t := thread(threadKey{p.pid, p.tid})
		if len(t.Streams) == maxStreams {
			return nil, input.Refuse(input.TooLarge, "traceEvents", "thread %d of process %d has over %d profiles",
				p.tid, p.pid, maxStreams)
		}
		t.Streams = append(t.Streams, stream)
	}
	if headless > 0 {
		d.warn("%d profiles have no beginning; their samples were placed by the time of the first chunk", headless)
	}
	var lost lostEvents
	for _, t := range d.order {
		if events := t.events(d, origin, &lost); len(events) > 0 {
			thread(t.threadKey).Events = events
		}
	}
	lost.warn(d)
	if len(out.Threads) == 0 && d.count == 0 {
		return nil, input.Refuse(input.Invalid, "traceEvents", "there are none")
	}
	if len(out.Threads) == 0 {
		d.warn("none of its %d events has CPU samples or a length", d.count)
	}
	out.Scripts = d.carried.scripts()
	if d.carried.left > 0 {
		d.warn("%d texts of scripts or source maps are too large or too many; they were left out", d.carried.left)
	}
	if more := len(d.warnings) - maxWarnings; more > 0 {
		d.warnings = d.warnings[:maxWarnings]
		d.warn("and %d more like these", more)
	}
	out.Warnings = d.warnings
	return out, nil
}

// maxStreams bounds the profiles of one thread, as each is compared with the others.
const maxStreams = 1 << 12

// maxWarnings is how many warnings about a file are listed one by one.
const maxWarnings = 50

// origin returns the time of the first event or profile. If times are further apart than a
// recording can last, those far from most others do not count.
func (d *traceReader) origin(profiles []*traceProfile) float64 {
	var times []float64
	for _, p := range profiles {
		if len(p.times) == 0 {
			p.setTimes()
		}
		if len(p.times) > 0 {
			times = append(times, p.times[0])
		}
	}
	for _, t := range d.order {
		for _, s := range t.complete {
			times = append(times, s.start)
		}
		for _, m := range t.begins {
			times = append(times, m.time)
		}
	}
	if len(times) == 0 {
		return 0
	}
	least := slices.Min(times)
	if slices.Max(times)-least > trie.MaxTime {
		least = mostWithin(times, trie.MaxTime)
	}
	return math.Floor(least)
}

// mostWithin returns the start of the window of length span that contains most times.
func mostWithin(times []float64, span float64) float64 {
	slices.Sort(times)
	from, most, end := 0, 0, 0
	for i, t := range times {
		for end < len(times) && times[end] <= t+span {
			end++
		}
		if end-i > most {
			from, most = i, end-i
		}
	}
	return times[from]
}

func (d *traceReader) streamOf(p *traceProfile, origin float64) (trie.Stream, error) {
	s := trie.Stream{Source: p.source, ID: string(d.strings.Text(p.id))}
	var err error
	if s.Trace, err = p.trace(origin); err != nil {
		return s, fmt.Errorf("profile %s of process %d: %w", s.ID, p.pid, err)
	}
	s.Anchors = p.anchored()
	d.warnings = append(d.warnings, p.warnings(fmt.Sprintf("profile %s of process %d: ", s.ID, p.pid))...)
	return s, nil
}

// lostEvents counts lost events.
type lostEvents struct{ begins, ends, clipped, measures, strange int }

func (l *lostEvents) warn(d *traceReader) {
	if l.begins > 0 {
		d.warn("%d events begin and do not end; they were dropped", l.begins)
	}
	if l.ends > 0 {
		d.warn("%d events end and did not begin; they were dropped", l.ends)
	}
	if l.clipped > 0 {
		d.warn("%d events outlive the event that they began in; they were clipped", l.clipped)
	}
	if l.measures > 0 {
		d.warn("%d measures cross other events; they were left out", l.measures)
	}
	if l.strange > 0 {
		d.warn("%d events have times out of range; they were dropped", l.strange)
	}
}

// events returns the events of t, nested, with times relative to origin.
func (t *traceThread) events(d *traceReader, origin float64, lost *lostEvents) []trie.Event {
	texts := map[trie.StringID]string{} // so that the names are in memory once
	text := func(id trie.StringID) string {
		s, ok := texts[id]
		if !ok {
			s = string(d.strings.Text(id))
			texts[id] = s
		}
		return s
	}
	out := make([]trie.Event, 0, len(t.complete)+len(t.begins)/2)
	add := func(s traceSpan, measure bool) {
		start, ok := wholeMicros(s.start - origin)
		end, ok2 := wholeMicros(s.end - origin)
		if !ok || !ok2 {
			lost.strange++
			return
		}
		if start >= end && s.anchor == 0 {
			return // no time was spent
		}
		row := trie.FrameRow{Name: s.name}
		if s.place != nil {
			s.place.name = s.name
			row = s.place.row(&d.strings)
		}
		out = append(out, trie.Event{
			Frame: trie.Frame{
				Name: text(row.Name), Resource: text(row.Resource), Line: row.Line, Column: row.Column,
			},
			Start: start, End: end, Anchor: s.anchor, Measure: measure,
		})
	}
	for _, s := range t.complete {
		add(s, false)
	}
	for _, s := range pair(t.begins, lost) {
		add(s, false)
	}
	for _, s := range pairMeasures(t.measures) {
		add(s, true)
	}
	out, clipped, dropped := trie.Nest(out)
	lost.clipped += clipped
	lost.measures += dropped
	return out
}

// pair makes events from begins and ends, as the format defines: an end closes the last
// begin with its name, or the last of all if it has no name.
func pair(marks []traceMark, lost *lostEvents) []traceSpan {
	slices.SortStableFunc(marks, func(a, b traceMark) int { return cmp.Compare(a.time, b.time) })
	// Spans are in the order of their begins, so of two with the same time the one that
	// began first is the outer one.
	spans, ended := make([]traceSpan, len(marks)), make([]bool, len(marks))
	// Indexes in marks of open begins, in order, and by name.
	var open []int
	byName := map[trie.StringID][]int{}
	last := func(list []int) []int { // without what has ended at its end
		for len(list) > 0 && ended[list[len(list)-1]] {
			list = list[:len(list)-1]
		}
		return list
	}
	begins := 0
	for i, m := range marks {
		if m.begin {
			open = append(open, i)
			byName[m.name] = append(byName[m.name], i)
			begins++
			continue
		}
		open, byName[m.name] = last(open), last(byName[m.name])
		candidates := byName[m.name]
		if m.name == 0 {
			candidates = open
		}
		if len(candidates) == 0 {
			lost.ends++
			continue
		}
		k := candidates[len(candidates)-1]
		ended[k] = true
		begins--
		b := marks[k]
		spans[k] = traceSpan{b.name, b.time, m.time, max(b.anchor, m.anchor), b.place}
	}
	lost.begins += begins
	at := 0
	for i, is := range ended {
		if is {
			spans[at] = spans[i]
			at++
		}
	}
	return spans[:at]
}

// pairMeasures makes spans from the begins and ends of measures, matched by name and id.
func pairMeasures(marks []traceMark) []traceSpan {
	slices.SortStableFunc(marks, func(a, b traceMark) int { return cmp.Compare(a.time, b.time) })
	type key struct{ name, id trie.StringID }
	open := map[key]traceMark{}
	var spans []traceSpan
	for _, m := range marks {
		k := key{m.name, m.id}
		if m.begin {
			open[k] = m
		} else if b, ok := open[k]; ok {
			delete(open, k)
			spans = append(spans, traceSpan{name: b.name, start: b.time, end: m.time})
		}
	}
	return spans
}
