package output

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/trie"
)

// LabelThread is the label that distinguishes the threads in a profile of recordings.
const LabelThread = "thread"

// Thread is a thread of a recording, with its time.
type Thread struct {
	Key         string `json:"key"`          // value of [LabelThread] in its group
	Recording   string `json:"recording"`    // the name of the file
	Process     int64  `json:"process"`      // the number; 0 if unknown
	ProcessName string `json:"process_name"` // "" if unknown
	ID          int64  `json:"thread"`       // the number; 0 if unknown
	Name        string `json:"name"`         // "" if unknown
	// Sampled reports that a profiler saw its functions, so that the fields of Spent are known.
	Sampled bool `json:"sampled"`
	Events  bool `json:"events"` // events of the browser are among its work
	Spent
	Work  int64 `json:"work_us"` // µs of self times without idle time: of functions, events or both
	Main  bool  `json:"main"`    // of its recording
	Shown bool  `json:"shown"`   // whether it was selected
}

// Title names t for people, such as "CrRendererMain 7792/775". It is "" if nothing is known.
func (t *Thread) Title() string {
	var parts []string
	if t.Name != "" {
		parts = append(parts, t.Name)
	}
	if t.Process != 0 || t.ID != 0 {
		parts = append(parts, fmt.Sprintf("%d/%d", t.Process, t.ID))
	}
	if t.ProcessName != "" {
		parts = append(parts, "of "+t.ProcessName)
	}
	return strings.Join(parts, " ")
}

// Threads are the threads of recordings. A profile of them has the sum over the shown ones, never a
// mean.
type Threads []Thread

// Shown returns the selected threads.
func (all Threads) Shown() (shown Threads) {
	for _, t := range all {
		if t.Shown {
			shown = append(shown, t)
		}
	}
	return shown
}

// Sum returns a Thread with the summed times. It is sampled if all threads are, and has events if
// any thread does. The names stay empty.
func (all Threads) Sum() Thread {
	sum := Thread{Sampled: true}
	for _, t := range all {
		sum.Spent.Add(t.Spent)
		sum.Work += t.Work
		sum.Sampled, sum.Events = sum.Sampled && t.Sampled, sum.Events || t.Events
	}
	return sum
}

// Took describes the time of t.
func (t *Thread) Took() string {
	parts := []string{millis(t.JavaScript) + " of JavaScript"}
	if !t.Sampled || t.Events {
		parts = []string{millis(t.Work) + " of work"}
		if t.JavaScript > 0 {
			parts[0] += ", " + millis(t.JavaScript) + " of JavaScript in it"
		}
	}
	for _, x := range []struct {
		us   int64
		what string
	}{{t.Collecting, "garbage collection"}, {t.Program, trie.FrameProgram}, {t.Idle, "idle"}} {
		if x.us > 0 {
			parts = append(parts, millis(x.us)+" "+x.what)
		}
	}
	return strings.Join(parts, ", ")
}

// Title describes the threads: the name of one, or the number of recordings and threads in the sum.
func (shown Threads) Title() string {
	if len(shown) == 1 {
		t := &shown[0]
		if title := t.Title(); title != "" {
			return t.Recording + ", thread " + title
		}
		return t.Recording
	}
	var recordings []string
	for _, t := range shown {
		if !slices.Contains(recordings, t.Recording) {
			recordings = append(recordings, t.Recording)
		}
	}
	switch {
	case len(recordings) == 1:
		return fmt.Sprintf("%s, sum of %d threads", recordings[0], len(shown))
	case len(recordings) == len(shown):
		return fmt.Sprintf("sum of %d recordings, one thread each", len(shown))
	}
	return fmt.Sprintf("sum of %d threads of %d recordings", len(shown), len(recordings))
}

func millis(us int64) string { return fmt.Sprintf("%.1f ms", float64(us)/1000) }
