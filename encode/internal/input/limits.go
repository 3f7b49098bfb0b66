package input

// Limits bounds one trace or profile for a decoder. A zero field selects the default in its
// comment.
type Limits struct {
	Samples     int // 60,000
	Nodes       int // 20,000
	Frames      int // 20,000
	Resources   int // 2,000
	StringBytes int // 8 KiB, the longest single name, URL, page or label
	// as StringBytes, the longest label, feature, page, release or environment of a trace in the
	// binary format
	TextBytes int
	Spans     int // 1,000
	Labels    int // 64
	Traces    int // 1,000, in a set; the limits above are for all of them together, but for Labels
}

// FileLimits returns limits for files named by the user of a program: large enough for
// any real recording, small enough that a broken file cannot take all memory.
func FileLimits() Limits {
	return Limits{Samples: 1 << 28, Nodes: 1 << 23, Frames: 1 << 23, Resources: 1 << 22, StringBytes: 1 << 20,
		Spans: 1 << 20, Labels: 1 << 10, Traces: 1 << 20}.WithDefaults()
}

// WithDefaults returns l with every zero replaced by its default.
func (l Limits) WithDefaults() Limits {
	for _, f := range []struct {
		field *int
		value int
	}{
		{&l.Samples, 60_000}, {&l.Nodes, 20_000}, {&l.Frames, 20_000}, {&l.Resources, 2_000},
		{&l.StringBytes, 8 << 10}, {&l.Spans, 1_000}, {&l.Labels, 64}, {&l.Traces, 1_000},
	} {
		if *f.field == 0 {
			*f.field = f.value
		}
	}
	if l.TextBytes == 0 {
		l.TextBytes = l.StringBytes
	}
	return l
}

// Check returns a TooLarge error if field has more than most entries, n.
func Check(field string, n, most int) error {
	if n > most {
		return Refuse(TooLarge, field, "%d, the most is %d", n, most)
	}
	return nil
}
