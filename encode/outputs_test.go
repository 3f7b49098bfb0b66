package encode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/trie"
)

// TestFolded: each stack with self time is one line, in microseconds, and names can be
// told from the structure.
func TestFolded(t *testing.T) {
	for name, data := range realTraces(t) {
		tr, err := DecodeProfilerTrace(data, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		checkFolded(t, name, tr.Profile())
	}
	for name, tr := range handmadeTraces() {
		checkFolded(t, name, tr.Profile())
	}
	for name, p := range handmadeProfiles() {
		checkFolded(t, name, p)
	}
}

func checkFolded(t *testing.T, name string, p *trie.Profile) {
	t.Helper()
	want := map[string]int64{}
	flat, _ := p.Flat()
	for n, w := range flat {
		if w.Self == 0 {
			continue
		}
		stack := ""
		for a := range p.Stack(trie.NodeID(n)) {
			stack = ";" + location(p.Frame(a)) + stack
		}
		want[stack[1:]] += w.Self
	}
	got := map[string]int64{}
	for line := range strings.Lines(foldedText(t, p)) {
		i := strings.LastIndexByte(line, ' ')
		self, err := strconv.ParseInt(strings.TrimSuffix(line[i+1:], "\n"), 10, 64)
		if err != nil {
			t.Fatalf("%s: %q: %v", name, line, err)
		}
		var stack []string
		for f := range strings.SplitSeq(line[:i], ";") {
			name, err := unescape(f)
			if err != nil {
				t.Fatalf("%q: %v", f, err)
			}
			stack = append(stack, name)
		}
		if _, twice := got[strings.Join(stack, ";")]; twice {
			t.Errorf("%s: %q stands twice", name, line)
		}
		got[strings.Join(stack, ";")] = self
	}
	if !maps.Equal(got, want) {
		t.Errorf("%s: got %v\nwant %v", name, got, want)
	}
}

// unescape undoes the escapes of a folded stack, which Go's strings have too, but for
// \x, which is a byte in Go.
func unescape(s string) (string, error) {
	out := ""
	for s != "" {
		c, _, tail, err := strconv.UnquoteChar(s, 0)
		if err != nil {
			return "", err
		}
		out, s = out+string(c), tail
	}
	return out, nil
}

func TestTopRows(t *testing.T) {
	p := trie.NewProfile()
	for i := range 50 {
		p.Add(nil, p.Insert(trie.Frame{Name: fmt.Sprintf("f%02d", i)}), trie.Weight{Self: int64(1000 * (i + 1)), Samples: 1, Reach: 1})
	}
	for rows, want := range map[int]struct {
		shown int
		rest  string
	}{
		0:  {40, "        55.0   4.31%                            10         10 more functions"},
		1:  {1, "      1225.0  96.08%                            49         49 more functions"},
		50: {50, ""}, 51: {50, ""}, -1: {50, ""},
	} {
		var b strings.Builder
		if err := EncodeTop(&b, p, Output{Rows: rows}); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		rest := ""
		if last := lines[len(lines)-1]; strings.HasSuffix(last, "more functions") {
			rest, lines = last, lines[:len(lines)-1]
		}
		const head = 3
		if got := len(lines) - head; got != want.shown || rest != want.rest {
			t.Errorf("%d rows: got %d, %q, want %d, %q", rows, got, rest, want.shown, want.rest)
		}
		if got := lines[head]; got != "        50.0   3.92%         50.0   3.92%        1      1  f49" {
			t.Errorf("%d rows: first %q", rows, got)
		}
	}
}

// TestFunctions: recursion counts a moment once in the total, and self adds up.
func TestFunctions(t *testing.T) {
	p := trie.NewProfile()
	a, b := trie.Frame{Name: "a"}, trie.Frame{Name: "b"}
	p.Add(nil, p.Insert(a), trie.Weight{Self: 1, Samples: 1, Reach: 3})
	p.Add(nil, p.Insert(a, b, a), trie.Weight{Self: 10, Samples: 1, Reach: 2})
	p.Add(nil, p.Insert(b, a, a), trie.Weight{Self: 100, Samples: 1, Reach: 5})
	p.Add(trie.MakeLabels("page", "/"), p.Insert(b), trie.Weight{Self: 1000, Reach: 1})
	p.Insert(trie.Frame{Name: "unused"})
	got := fmt.Sprint(p.Functions())
	if want := "[{{b  0 0} 1000 1110 0 1} {{a  0 0} 111 111 3 5}]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestMillis(t *testing.T) {
	for us, want := range map[int64]string{0: "0.0", 49: "0.0", -49: "0.0", 50: "0.1", -51: "-0.1", 1_234_567: "1234.6"} {
		if got := millis(us); got != want {
			t.Errorf("%d µs: got %s, want %s", us, got, want)
		}
	}
}

// TestTopIdle: nothing is said of idle time where none is known.
func TestTopIdle(t *testing.T) {
	for p, want := range map[*trie.Profile]string{
		groupedProfile(): " 30.0 ms without a stack, ",
		idleProfile():    " 30.0 ms without a stack (20.0 ms of that idle), ",
	} {
		var b strings.Builder
		if err := EncodeTop(&b, p, Output{}); err != nil {
			t.Fatal(err)
		}
		if head, _, _ := strings.Cut(b.String(), "\n"); !strings.Contains(head, want) {
			t.Errorf("got %q, want it to have %q", head, want)
		}
	}
}

// TestTopWithoutTime: nothing is divided by zero.
func TestTopWithoutTime(t *testing.T) {
	p := trie.NewProfile()
	p.Add(nil, p.Insert(frameDOM), trie.Weight{Samples: 1})
	var b strings.Builder
	if err := EncodeTop(&b, p, Output{}); err != nil {
		t.Fatal(err)
	}
	if want := "         0.0       -          0.0       -        1      0  querySelector\n"; !strings.HasSuffix(b.String(), want) {
		t.Errorf("got %q, want it to end with %q", b.String(), want)
	}
}

// TestJSON: the output can be read by any program, and adds up.
func TestJSON(t *testing.T) {
	profiles := handmadeProfiles()
	for name, tr := range handmadeTraces() {
		profiles[name] = tr.Profile()
	}
	for _, name := range goldenTraces {
		profiles[name] = repositoryTrace(t, name).Profile()
	}
	for name, p := range profiles {
		var b bytes.Buffer
		if err := EncodeJSON(&b, p, Output{}); err != nil {
			t.Fatal(err)
		}
		var got jsonProfile
		d := json.NewDecoder(&b)
		d.DisallowUnknownFields()
		if err := d.Decode(&got); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		checkJSON(t, name, p, &got)
	}
}

func checkJSON(t *testing.T, name string, p *trie.Profile, got *jsonProfile) {
	t.Helper()
	n := got.Nodes
	rows := len(n.Function)
	if len(n.Depth) != rows || len(n.Self) != rows || len(n.Total) != rows || len(n.Samples) != rows || len(n.Views) != rows {
		t.Fatalf("%s: columns of different length", name)
	}
	var nodes, roots, all, functions, groups int64
	functionSelf := make([]int64, len(got.Functions))
	for i := range rows {
		nodes += n.Self[i]
		if n.Depth[i] == 1 {
			roots += n.Total[i]
		}
		if i > 0 && n.Depth[i] > n.Depth[i-1]+1 || n.Depth[i] < 1 {
			t.Errorf("%s: row %d: depth %d", name, i, n.Depth[i])
		}
		if f := n.Function[i]; f < -1 || f >= len(functionSelf) {
			t.Errorf("%s: row %d: function %d", name, i, f)
		} else if f >= 0 {
			functionSelf[f] += n.Self[i]
		}
	}
	for i, f := range got.Functions {
		functions += f.Self
		if f.Self != functionSelf[i] {
			t.Errorf("%s: function %d: self %d, its nodes have %d", name, i, f.Self, functionSelf[i])
		}
		if i > 0 && f.Self > got.Functions[i-1].Self {
			t.Errorf("%s: function %d is heavier than the one before it", name, i)
		}
	}
	for _, g := range got.Groups {
		groups += g.Coverage.Self
	}
	for i := range p.Groups {
		self, _ := p.Groups[i].Sum()
		all += self
	}
	c := got.Coverage
	if nodes != all || roots != all || functions != all || groups != all || c.Self != all {
		t.Errorf("%s: got %d by nodes, %d by roots, %d by functions, %d by groups, %d in all, want %d",
			name, nodes, roots, functions, groups, c.Self, all)
	}
	if _, want := p.Flat(); (trie.Coverage{Views: c.Views, Traces: c.Traces, Stackless: c.Stackless, Idle: c.Idle, Unsampled: c.Unsampled, Truncated: c.Truncated}) != want {
		t.Errorf("%s: got coverage %+v, want %+v", name, c, want)
	}
}

// TestJSONCancelled: a frame whose weights cancel out has no function.
func TestJSONCancelled(t *testing.T) {
	p := trie.NewProfile()
	p.Add(nil, p.Insert(frameDOM), trie.Weight{Self: 0, Reach: 1})
	p.Add(nil, p.Insert(frameMain), trie.Weight{Self: 1})
	var b strings.Builder
	if err := EncodeJSON(&b, p, Output{}); err != nil {
		t.Fatal(err)
	}
	if want := `"nodes":{"function":[-1,0],`; !strings.Contains(b.String(), want) {
		t.Errorf("got %s, want it to have %s", b.String(), want)
	}
}

// TestWriteErrors: every format says when its output could not be written.
func TestWriteErrors(t *testing.T) {
	for _, f := range Formats() {
		if f.Encode == nil {
			continue
		}
		if err := f.Encode(failingWriter{io.ErrShortWrite}, groupedProfile(), Output{}); err == nil {
			t.Errorf("%s: no error", f.Name)
		}
	}
}

// FuzzDecode: whatever is read, of any format, is valid, and every format can write it.
func FuzzDecode(f *testing.F) {
	for _, data := range binarySeeds(f) {
		f.Add(data)
	}
	for name, data := range realTraces(f) {
		f.Add(data)
		if name == goldenTraces[0] {
			f.Add(gzipped(data))
		}
	}
	f.Add(uncompressedPprof(f, groupedProfile()))
	f.Add([]byte(`{"version":1,"options":{"sampleInterval":10},"profile":{"strings":["a"],` +
		`"stackFrames":{"1":{"name":0}},"main-thread":[{"type":"stack","timestamp":1,"stack":1}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) && len(data) > 1<<12 {
			return // may hold a thousand times as much
		}
		d, err := Decode(bytes.NewReader(data), Limits{Samples: 2000, Nodes: 2000})
		if err != nil {
			if KindOf(err) == 0 {
				t.Errorf("%v is no *Error", err)
			}
			return
		}
		p := d.Profile
		if d.Trace != nil {
			if err := d.Trace.Validate(); err != nil {
				t.Fatal(err)
			}
			encodeTrace(t, d.Trace)
			p = d.Trace.Profile()
		}
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		for _, f := range Formats() {
			if f.Encode != nil {
				if err := f.Encode(io.Discard, p, Output{}); err != nil {
					t.Errorf("%s: %v", f.Name, err)
				}
			}
		}
	})
}
