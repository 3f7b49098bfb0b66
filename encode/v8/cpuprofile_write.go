package v8

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

// cdpProfile is a Profiler.Profile of the Chrome DevTools Protocol,
// https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-Profile.
type cdpProfile struct {
	Nodes      []cdpNode `json:"nodes"`
	StartTime  int64     `json:"startTime"` // µs
	EndTime    int64     `json:"endTime"`   // µs
	Samples    []int     `json:"samples"`   // ids of nodes
	TimeDeltas []int64   `json:"timeDeltas"`
	Fieldtrie  cdpNote   `json:"fieldtrie"` // no reader looks at it
}

// cdpNote explains a file that looks like the recording of a browser.
type cdpNote struct {
	Aggregated bool   `json:"aggregated"`
	Title      string `json:"title,omitempty"`
	Note       string `json:"note"`
}

type cdpNode struct {
	ID        int      `json:"id"`
	CallFrame cdpFrame `json:"callFrame"`
	HitCount  int64    `json:"hitCount"`
	Children  []int    `json:"children,omitempty"`
}

type cdpFrame struct {
	FunctionName string `json:"functionName"`
	ScriptID     string `json:"scriptId"` // "0" without a script
	URL          string `json:"url"`
	LineNumber   int64  `json:"lineNumber"`   // from 0; -1 if not known
	ColumnNumber int64  `json:"columnNumber"` // from 0; -1 if not known
}

// cdpStart is the start of an aggregated profile, in µs. It is not 0, which DevTools
// takes for a missing time.
const cdpStart = 1_000_000

// EncodeCPUProfile writes p as a .cpuprofile, which Chrome DevTools, VS Code and
// speedscope open. Groups are summed. The recording that the format requires is
// synthetic: the stacks follow each other in preorder, each for its self time. So the
// widths of a flame chart are totals and its order is meaningless; the member fieldtrie
// says so. Self times below zero are left out. hitCount is the samples of the node, at
// least 1 if it has self time.
//
// The last sample of a profile lasts for the mean interval in DevTools, until endTime in
// VS Code, and not at all in speedscope. It is therefore a sample of (root) at endTime,
// which adds to no function's time in any of them.
func EncodeCPUProfile(w io.Writer, p *trie.Profile, o output.Options) error {
	t := output.Weigh(p, o.Alone())
	self, _ := t.Drawable()
	c := newCDPWriter("stacks of many recordings, in no order of time")
	c.out.Fieldtrie.Aggregated, c.out.Fieldtrie.Title = true, o.Title
	ids := c.addNodes(t.Trie)
	c.begin(cdpStart)
	for n := range t.Preorder() {
		if self[n] > 0 {
			c.sample(ids[n], self[n])
			c.out.Nodes[ids[n]-1].HitCount = max(t.Self[n].Samples, 1)
		}
	}
	return c.write(w)
}

// EncodeCPUProfileTimed writes the calls of one thread as a .cpuprofile with a sample
// wherever the stack changes; time between calls is (idle). Two calls of one function
// that touch become one. The format has one thread, so several threads are an error that
// names them.
func EncodeCPUProfileTimed(w io.Writer, lines []*trie.Timeline, o output.Options) error {
	lines = output.NotEmpty(lines)
	if len(lines) > 1 {
		return fmt.Errorf("a .cpuprofile has one thread, and there are %s: choose one with --thread",
			chosenNames(lines))
	}
	t, start := &trie.Timeline{Trie: *trie.New()}, int64(cdpStart)
	if len(lines) == 1 {
		t = lines[0]
		start = max(t.Calls[0].Start, 1)
	}
	c := newCDPWriter("a sample at each change of the stack")
	c.out.Fieldtrie.Title = o.Title
	ids := c.addNodes(&t.Trie)
	idle := 0
	c.begin(start)
	for s := range t.Segments() {
		id := ids[s.Node]
		if s.Node == trie.Root {
			if idle == 0 {
				idle = c.node(ids[trie.Root], trie.Frame{Name: trie.FrameIdle})
			}
			id = idle
		}
		c.sample(id, s.End-s.Start)
		c.out.Nodes[id-1].HitCount++
	}
	return c.write(w)
}

// shownThreads is how many threads the error names.
const shownThreads = 10

// chosenNames returns the names of threads as accepted by --thread: NAME PROCESS/NUMBER.
func chosenNames(lines []*trie.Timeline) string {
	var names []string
	for _, t := range lines[:min(shownThreads, len(lines))] {
		names = append(names, strings.TrimSpace(fmt.Sprintf("%s %d/%d", t.Name, t.Process, t.Thread)))
	}
	if more := len(lines) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// cdpWriter builds a cdpProfile.
type cdpWriter struct {
	out     cdpProfile
	scripts map[string]int // by URL, from 1 in the order of their first node
	next    int64          // µs from the sample before to the next
}

func newCDPWriter(note string) *cdpWriter {
	return &cdpWriter{
		out:     cdpProfile{Samples: []int{}, TimeDeltas: []int64{}, Fieldtrie: cdpNote{Note: note}},
		scripts: map[string]int{},
	}
}

// addNodes adds all nodes of t, in its order, and returns the id of each.
func (c *cdpWriter) addNodes(t *trie.Trie) []int {
	ids := make([]int, len(t.Nodes))
	ids[trie.Root] = c.node(0, trie.Frame{Name: "(root)"})
	for n := range t.Preorder() {
		ids[n] = c.node(ids[t.Nodes[n].Parent], t.Frame(n))
	}
	return ids
}

// node adds a node and returns its id, its index counted from 1.
func (c *cdpWriter) node(parent int, f trie.Frame) int {
	id := len(c.out.Nodes) + 1
	script := 0
	if f.Resource != "" {
		if c.scripts[f.Resource] == 0 {
			c.scripts[f.Resource] = len(c.scripts) + 1
		}
		script = c.scripts[f.Resource]
	}
	// An empty name is as browsers write it; each reader shows a text of its own for it.
	c.out.Nodes = append(c.out.Nodes, cdpNode{ID: id, CallFrame: cdpFrame{
		FunctionName: f.Name, ScriptID: strconv.Itoa(script), URL: f.Resource,
		LineNumber: int64(f.Line) - 1, ColumnNumber: int64(f.Column) - 1,
	}})
	if parent > 0 {
		up := &c.out.Nodes[parent-1]
		up.Children = append(up.Children, id)
	}
	return id
}

func (c *cdpWriter) begin(start int64) { c.out.StartTime, c.out.EndTime = start, start }

// sample adds a sample of length µs after the end of the previous one. Its time delta
// counts from the previous sample, so length becomes the delta of the next.
func (c *cdpWriter) sample(id int, length int64) {
	c.out.Samples = append(c.out.Samples, id)
	c.out.TimeDeltas = append(c.out.TimeDeltas, c.next)
	c.out.EndTime += length
	c.next = length
}

// write ends the profile with a sample of the root and writes it.
func (c *cdpWriter) write(w io.Writer) error {
	c.sample(1, 0)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(&c.out)
}
