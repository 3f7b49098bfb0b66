package rollups

import (
	"encoding/binary"
	"fmt"
	"strings"
	"time"
)

// dumper writes a file as text, so that people can read it and a change of the format is a
// readable difference. A line is
//
//	offset: bytes  # meaning
//
// with at most 16 bytes. A line without a meaning goes on with the one before it.
type dumper struct {
	strings.Builder
	data []byte
	at   int
}

// dump returns the text of a file that is not damaged.
func dump(data []byte) string {
	d := &dumper{data: data}
	f, err := NewFile(strings.NewReader(string(data)), int64(len(data)), "dumped", nil)
	if err != nil {
		return err.Error()
	}
	d.title("header")
	d.take(magicSize, "magic")
	d.take(1, "version %d", d.data[d.at])
	d.take(1, "span %v", f.span)
	d.take(4, "start %s", clock(f.start))
	d.take(4, "%d bytes of times", binary.BigEndian.Uint32(d.data[d.at:]))
	d.times(f.index.sums)
	d.take(4, "checksum of the header")
	for _, r := range f.index.runs {
		d.run(f, r)
	}
	for i, s := range f.index.sums {
		for n, c := range f.index.counts[i] {
			d.title("counts of %s, piece %d", clock(s.Start), n)
			d.take(int(c.packed), "%d bytes decompressed", c.raw)
		}
	}
	d.indexed(f.index)
	d.title("trailer")
	d.take(8, "index at %d", binary.BigEndian.Uint64(d.data[d.at:]))
	d.take(4, "%d bytes of index", binary.BigEndian.Uint32(d.data[d.at:]))
	d.take(4, "checksum of the index")
	d.take(4, "%d bytes of header", binary.BigEndian.Uint32(d.data[d.at:]))
	d.take(1, "version %d", d.data[d.at])
	d.take(1, "span %v", f.span)
	d.take(4, "start %s", clock(f.start))
	d.take(4, "checksum of the trailer")
	d.take(magicSize, "magic")
	d.title("%d bytes are left", len(data)-d.at)
	return d.String()
}

func clock(minutes uint32) string { return TimeOf(minutes).Format("2006-01-02T15:04") }

func micro(us int64) string { return time.UnixMicro(us).UTC().Format("15:04:05.000000") }

func (d *dumper) title(format string, args ...any) { fmt.Fprintf(d, "# "+format+"\n", args...) }

// take writes the next n bytes.
func (d *dumper) take(n int, format string, args ...any) {
	meaning := "  # " + fmt.Sprintf(format, args...)
	for end := d.at + n; d.at < end; meaning = "" {
		to := min(d.at+16, end)
		line := fmt.Sprintf("%5d: %-47s%s", d.at, fmt.Sprintf("% x", d.data[d.at:to]), meaning)
		d.WriteString(strings.TrimRight(line, " ") + "\n")
		d.at = to
	}
}

// number writes a LEB128 number.
func (d *dumper) number(format string) {
	v, n := binary.Uvarint(d.data[d.at:])
	d.take(n, format, v)
}

func (d *dumper) times(sums []Sum) {
	d.take(4, "%d times", len(sums))
	for _, s := range sums {
		d.take(4, "start %s", clock(s.Start))
		d.take(8, "first %s", micro(s.First))
		d.take(8, "last %s", micro(s.Last))
		d.take(8, "%d traces", s.Traces)
		d.take(8, "%d missing", s.Missing)
		d.take(4, "%d sources", len(s.Sources))
		for _, source := range s.Sources {
			d.take(4, "%s", clock(source))
		}
	}
}

func (d *dumper) block() {
	d.number("%d bytes")
	d.number("%d bytes decompressed")
	d.take(4, "checksum")
}

func (d *dumper) run(f *File, r run) {
	_, list, err := f.readRun(r)
	if err != nil {
		d.title("%v", err)
		return
	}
	d.title("run of %q: directory", r.page)
	d.number("%d strings")
	d.number("%d frames")
	d.number("%d nodes")
	d.number("%d pieces of the stack table")
	for range list.stacks {
		d.block()
	}
	d.number("%d hours")
	for _, h := range list.hours {
		d.take(4, "start %s", clock(h.start))
		d.number("%d traces expected")
		d.take(1, "levels %03b", d.data[d.at])
		for _, l := range h.records {
			if l.there() {
				d.block()
			}
		}
	}
	list.each(func(p place, l *located) error {
		at := clock(p.start)
		if p.kind == kindStacks {
			at = fmt.Sprintf("piece %d", p.start)
		}
		d.title("run of %q: %v, %s", r.page, p.kind, at)
		d.take(len(l.data), "%d bytes decompressed", l.raw)
		return nil
	})
}

func (d *dumper) indexed(x *index) {
	d.title("index")
	d.times(x.sums)
	for i, s := range x.sums {
		d.number("%d pieces of counts of " + clock(s.Start))
		for range x.counts[i] {
			d.block()
		}
	}
	d.number("%d runs")
	for _, r := range x.runs {
		d.number("%d bytes of the page before")
		n, _ := binary.Uvarint(d.data[d.at:])
		d.number("and %d bytes more")
		d.take(int(n), "%q", r.page)
		d.number("%d bytes of run")
		d.number("%d bytes of directory")
		d.take(4, "checksum of the directory")
	}
}
