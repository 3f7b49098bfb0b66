package firefox

import (
	"encoding/json"
	"io"
	"strconv"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

// firefoxVersion is the written version of the processed profile format, the last before sources
// got their own table. The profiler upgrades it automatically.
// https://github.com/firefox-devtools/profiler/blob/main/docs-developer/CHANGELOG-formats.md
const firefoxVersion = 57

type firefoxProfile struct {
	Meta   firefoxMeta `json:"meta"`
	Libs   []any       `json:"libs"`
	Shared struct {
		StringArray []string `json:"stringArray"`
	} `json:"shared"`
	Threads []firefoxThread `json:"threads"`
}

type firefoxMeta struct {
	Interval                   float64           `json:"interval"`  // ms
	StartTime                  float64           `json:"startTime"` // ms since the Unix epoch
	ProcessType                int               `json:"processType"`
	Product                    string            `json:"product"`
	ImportedFrom               string            `json:"importedFrom"`
	Stackwalk                  int               `json:"stackwalk"`
	Version                    int               `json:"version"` // of the format of Firefox itself
	PreprocessedProfileVersion int               `json:"preprocessedProfileVersion"`
	Symbolicated               bool              `json:"symbolicated"`
	SymbolicationNotSupported  bool              `json:"symbolicationNotSupported"`
	UsesOnlyOneStackType       bool              `json:"usesOnlyOneStackType"`
	SourceCodeIsNotOnSearchfox bool              `json:"sourceCodeIsNotOnSearchfox"`
	Categories                 []firefoxCategory `json:"categories"`
	MarkerSchema               []any             `json:"markerSchema"`
}

type firefoxCategory struct {
	Name          string   `json:"name"`
	Color         string   `json:"color"`
	Subcategories []string `json:"subcategories"`
}

// Categories of frames, by their index in the list.
const (
	firefoxOther = iota
	firefoxJavaScript
	firefoxBrowser
)

func firefoxCategories() []firefoxCategory {
	return []firefoxCategory{
		{"Other", "grey", []string{"Other"}},
		{"JavaScript", "yellow", []string{"Other"}},
		{"Browser", "blue", []string{"Other"}},
	}
}

// firefoxThread has tables of columns. Other tables refer to rows by number.
type firefoxThread struct {
	ProcessType         string         `json:"processType"`
	ProcessStartupTime  float64        `json:"processStartupTime"`
	ProcessShutdownTime *float64       `json:"processShutdownTime"`
	RegisterTime        float64        `json:"registerTime"`
	UnregisterTime      *float64       `json:"unregisterTime"`
	PausedRanges        []any          `json:"pausedRanges"`
	Name                string         `json:"name"`
	ProcessName         string         `json:"processName"`
	IsMainThread        bool           `json:"isMainThread"`
	PID                 string         `json:"pid"`
	TID                 int64          `json:"tid"`
	Samples             firefoxSamples `json:"samples"`
	Markers             map[string]any `json:"markers"`
	StackTable          firefoxStacks  `json:"stackTable"`
	FrameTable          firefoxFrames  `json:"frameTable"`
	FuncTable           firefoxFuncs   `json:"funcTable"`
	ResourceTable       map[string]any `json:"resourceTable"`
	NativeSymbols       map[string]any `json:"nativeSymbols"`
}

type firefoxSamples struct {
	Stack      []*int    `json:"stack"` // null while nothing is called
	Time       []float64 `json:"time"`  // ms, of the start
	Weight     []float64 `json:"weight"`
	WeightType string    `json:"weightType"`
	Length     int       `json:"length"`
}

type firefoxStacks struct {
	Frame  []trie.FrameID `json:"frame"`
	Prefix []*int         `json:"prefix"` // the caller's stack; null for the first call
	Length int            `json:"length"`
}

type firefoxFrames struct {
	Address       []int     `json:"address"` // -1: no machine code
	InlineDepth   []int     `json:"inlineDepth"`
	Category      []int     `json:"category"`
	Subcategory   []int     `json:"subcategory"`
	Func          []int     `json:"func"`
	NativeSymbol  []*int    `json:"nativeSymbol"`
	InnerWindowID []int     `json:"innerWindowID"` // 0: not known
	Line          []*uint32 `json:"line"`
	Column        []*uint32 `json:"column"`
	Length        int       `json:"length"`
}

type firefoxFuncs struct {
	Name          []int     `json:"name"`
	IsJS          []bool    `json:"isJS"`
	RelevantForJS []bool    `json:"relevantForJS"`
	Resource      []int     `json:"resource"` // -1: none
	FileName      []*int    `json:"fileName"`
	LineNumber    []*uint32 `json:"lineNumber"`
	ColumnNumber  []*uint32 `json:"columnNumber"`
	Length        int       `json:"length"`
}

// EncodeTimed writes threads in time order as a processed profile of the Firefox
// Profiler, profiler.firefox.com, in version 57, which the profiler upgrades to its own.
// There is a sample wherever the stack changes. Its weight is the duration of the stack,
// so the call tree shows times and not numbers of samples. Its time counts from the
// first call of all threads. Both are milliseconds, exact to the microsecond.
func EncodeTimed(w io.Writer, lines []*trie.Timeline, o output.Options) error {
	lines = output.NotEmpty(lines)
	f := firefoxWriter{places: map[string]int{}, first: output.FirstStart(lines)}
	title := o.Title
	if title == "" {
		title = "fieldtrie"
	}
	f.out.Meta = firefoxMeta{
		Interval: 1, Product: title, ImportedFrom: "fieldtrie", PreprocessedProfileVersion: firefoxVersion,
		Symbolicated: true, SymbolicationNotSupported: true, UsesOnlyOneStackType: true,
		SourceCodeIsNotOnSearchfox: true,
		Categories:                 firefoxCategories(), MarkerSchema: []any{}, Version: 31,
	}
	if !o.Since.IsZero() {
		f.out.Meta.StartTime = inMillis(o.Since.UnixMicro())
	}
	f.out.Libs, f.out.Threads, f.out.Shared.StringArray = []any{}, []firefoxThread{}, []string{}
	for i, t := range lines {
		f.out.Threads = append(f.out.Threads, f.thread(t, i))
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(&f.out)
}

func inMillis(us int64) float64 { return float64(us) / 1000 }

type firefoxWriter struct {
	out    firefoxProfile
	places map[string]int // of the strings
	first  int64          // µs, what times count from
}

// text returns the number of s in the string table.
func (f *firefoxWriter) text(s string) int {
	i, known := f.places[s]
	if !known {
		i = len(f.out.Shared.StringArray)
		f.places[s] = i
		f.out.Shared.StringArray = append(f.out.Shared.StringArray, s)
	}
	return i
}

// thread returns t as thread number i.
func (f *firefoxWriter) thread(t *trie.Timeline, i int) firefoxThread {
	tid := t.Thread
	if tid == 0 {
		tid = int64(i) + 1
	}
	start := inMillis(t.Calls[0].Start - f.first)
	out := firefoxThread{
		ProcessType: "default", ProcessName: "fieldtrie", PausedRanges: []any{}, RegisterTime: start,
		Name: output.ThreadName(t), IsMainThread: t.Name == "CrRendererMain" || len(f.out.Threads) == 0,
		PID: strconv.FormatInt(max(t.Process, 1), 10), TID: tid,
		Markers: emptyTable("data", "name", "startTime", "endTime", "phase", "category"),
		// Resources and symbols are for machine code and for add-ons.
		ResourceTable: emptyTable("lib", "name", "host", "type"),
		NativeSymbols: emptyTable("libIndex", "address", "name", "functionSize"),
		Samples:       f.samples(t),
		StackTable:    firefoxStacks{Frame: []trie.FrameID{}, Prefix: []*int{}},
	}
	for _, n := range t.Nodes[1:] { // a stack is one less than its node: the root is none
		out.StackTable.Frame = append(out.StackTable.Frame, n.Frame)
		out.StackTable.Prefix = append(out.StackTable.Prefix, firefoxStack(n.Parent))
	}
	out.StackTable.Length = len(out.StackTable.Frame)
	f.functions(&t.Trie, &out)
	return out
}

// firefoxStack returns the number of the stack of n.
func firefoxStack(n trie.NodeID) *int {
	if n == trie.Root {
		return nil
	}
	return new(int(n) - 1)
}

func emptyTable(columns ...string) map[string]any {
	t := map[string]any{"length": 0}
	for _, c := range columns {
		t[c] = []any{}
	}
	return t
}

func (f *firefoxWriter) samples(t *trie.Timeline) firefoxSamples {
	s := firefoxSamples{WeightType: "tracing-ms"}
	add := func(n trie.NodeID, start, length int64) {
		s.Stack = append(s.Stack, firefoxStack(n))
		s.Time = append(s.Time, inMillis(start-f.first))
		s.Weight = append(s.Weight, inMillis(length))
	}
	for g := range t.Segments() {
		add(g.Node, g.Start, g.End-g.Start)
	}
	add(trie.Root, output.LastEnd(t), 0) // a chart draws a sample until the next
	s.Length = len(s.Stack)
	return s
}

// functions fills the tables of functions and of frames. They have a row for each frame
// of t, as samples do not know a line within a function.
func (f *firefoxWriter) functions(t *trie.Trie, out *firefoxThread) {
	known := func(v uint32) *uint32 {
		if v == 0 {
			return nil
		}
		return &v
	}
	funcs, frames := &out.FuncTable, &out.FrameTable
	for i := range t.Frames {
		fn := t.FrameOf(trie.FrameID(i))
		category := firefoxBrowser
		var file *int
		if fn.Resource != "" {
			category, file = firefoxJavaScript, new(f.text(fn.Resource))
		}
		line, column := known(fn.Line), known(fn.Column)
		funcs.Name = append(funcs.Name, f.text(output.Shown(fn)))
		funcs.IsJS = append(funcs.IsJS, fn.Resource != "")
		funcs.RelevantForJS = append(funcs.RelevantForJS, fn.Resource == "")
		funcs.Resource = append(funcs.Resource, -1)
		funcs.FileName = append(funcs.FileName, file)
		funcs.LineNumber = append(funcs.LineNumber, line)
		funcs.ColumnNumber = append(funcs.ColumnNumber, column)
		frames.Address = append(frames.Address, -1)
		frames.InlineDepth = append(frames.InlineDepth, 0)
		frames.Category = append(frames.Category, category)
		frames.Subcategory = append(frames.Subcategory, 0)
		frames.Func = append(frames.Func, i)
		frames.NativeSymbol = append(frames.NativeSymbol, nil)
		frames.InnerWindowID = append(frames.InnerWindowID, 0)
		frames.Line = append(frames.Line, line)
		frames.Column = append(frames.Column, column)
	}
	funcs.Length, frames.Length = len(t.Frames), len(t.Frames)
}
