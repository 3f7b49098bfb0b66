package hostile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
)

// Kind is a kind of file that is expensive to read, with the flags that make it most expensive.
type Kind struct {
	Name  string // also used in file names
	Flags []string
	// Write writes a file of about n calls, events or samples.
	Write func(w *bufio.Writer, n int)
}

// Kinds returns all kinds. Flags are the flags of aggregate that make a file as expensive as
// possible.
func Kinds() []Kind {
	return []Kind{
		{"nested-speedscope", timed("speedscope"), NestedSpeedscope},
		{"crossing-speedscope", timed("speedscope"), CrossingSpeedscope},
		{"crossing-events", events(), CrossingEvents},
		{"nested-events", timed("chrometrace", "--events"), NestedEvents},
		{"native-events", events(), NativeEvents},
		{"measures", events(), Measures},
		{"deep-in-events", timed("speedscope", "--events"), DeepInEvents},
		{"deep-profile", timed("cpuprofile"), DeepProfile},
		{"alternating-profile", timed("cpuprofile"), AlternatingProfile},
		{"whole-stacks", timed("chrometrace"), WholeStacks},
		{"dense-profile", merged("pprof"), DenseProfile},
		{"circular-profile", merged("tree"), CircularProfile},
		{"tree-profile", merged("pprof"), TreeProfile},
		{"threads", merged("pprof"), Threads},
		{"profiles", merged("pprof"), Profiles},
		{"profiles-in-turn", timed("speedscope", "--events"), ProfilesInTurn},
		{"names", merged("json"), Names},
		{"deep-pprof", merged("svg"), DeepPprof},
		{"deep-folded", merged("tree"), DeepFolded},
	}
}

func merged(format string) []string { return []string{"-f", format} }

func events() []string { return []string{"-f", "tree", "--events"} }

func timed(format string, more ...string) []string {
	return append([]string{"-f", format, "--timed"}, more...)
}

// Bytes returns the output of write.
func Bytes(write func(*bufio.Writer, int), n int) []byte {
	var b bytes.Buffer
	_ = WriteTo(&b, write, n) // a buffer takes everything
	return b.Bytes()
}

// WriteTo calls write for n with a buffered w, and returns the first error of w.
func WriteTo(w io.Writer, write func(*bufio.Writer, int), n int) error {
	b := bufio.NewWriterSize(w, 1<<16)
	write(b, n)
	return b.Flush()
}

// list calls write for the numbers below n, with commas in between.
func list(w *bufio.Writer, n int, write func(i int)) {
	for i := range n {
		if i > 0 {
			w.WriteByte(',')
		}
		write(i)
	}
}

// NestedSpeedscope has n/2 nested calls.
func NestedSpeedscope(w *bufio.Writer, n int) {
	n /= 2
	speedscope(w, 1, 2*n, func(i int) {
		if i < n {
			fmt.Fprintf(w, `{"type":"O","frame":0,"at":%d}`, i)
		} else {
			fmt.Fprintf(w, `{"type":"C","frame":0,"at":%d}`, i)
		}
	})
}

// CrossingSpeedscope has calls that end in the order in which they began, so each end belongs to
// the outermost call.
func CrossingSpeedscope(w *bufio.Writer, n int) {
	n /= 2
	speedscope(w, n, 2*n, func(i int) {
		if i < n {
			fmt.Fprintf(w, `{"type":"O","frame":%d,"at":%d}`, i, i)
		} else {
			fmt.Fprintf(w, `{"type":"C","frame":%d,"at":%d}`, i-n, i)
		}
	})
}

func speedscope(w *bufio.Writer, frames, events int, event func(i int)) {
	w.WriteString(`{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[`)
	list(w, frames, func(i int) { fmt.Fprintf(w, `{"name":"f%d"}`, i) })
	fmt.Fprintf(w, `]},"profiles":[{"type":"evented","name":"p","unit":"microseconds","startValue":0,"endValue":%d,`+
		`"events":[`, events)
	list(w, events, event)
	w.WriteString(`]}]}`)
}

// Names has n functions with long names.
func Names(w *bufio.Writer, n int) {
	long := strings.Repeat("x", 200)
	w.WriteString(`{"nodes":[{"id":1,"callFrame":{"functionName":"(root)"}}`)
	for i := range n {
		fmt.Fprintf(w, `,{"id":%d,"parent":1,"callFrame":{"functionName":"%s%d","url":"https://x.example/%s%d.js",`+
			`"lineNumber":%d}}`, i+2, long, i, long, i, i)
	}
	w.WriteString(`],"samples":[`)
	list(w, n, func(i int) { fmt.Fprint(w, i+2) })
	w.WriteString(`],"timeDeltas":[`)
	list(w, n, func(int) { w.WriteByte('1') })
	w.WriteString(`]}`)
}

// DeepFolded has one stack of n frames, followed by the stacks of its callers.
func DeepFolded(w *bufio.Writer, n int) {
	list := strings.Repeat("f;g;", n/2)
	fmt.Fprintf(w, "%sh 5\n", list)
	for i := range 4 {
		fmt.Fprintf(w, "%sh%d 5\n", list[:len(list)/2], i)
	}
}

// DeepPprof has four samples with stacks of n/4 frames.
func DeepPprof(w *bufio.Writer, n int) {
	const functions = 4
	w.WriteString("\x0a\x04\x08\x01\x10\x02") // sample_type: wall, microseconds
	for i := range 4 {
		frames := make([]byte, n/4)
		for k := range frames {
			frames[k] = byte(1 + (k+i)%functions)
		}
		sample := binary.AppendUvarint([]byte{0x0a}, uint64(len(frames)))
		sample = append(append(sample, frames...), 0x12, 1, 5) // location_id, value
		w.Write(binary.AppendUvarint([]byte{0x12}, uint64(len(sample))))
		w.Write(sample)
	}
	for i := range byte(functions) {
		w.Write([]byte{0x22, 6, 0x08, i + 1, 0x22, 2, 0x08, i + 1}) // location: id, line: function_id
		w.Write([]byte{0x2a, 4, 0x08, i + 1, 0x10, i + 3})          // function: id, name
	}
	for _, s := range []string{"", "wall", "microseconds", "a", "b", "c", "d"} {
		w.WriteByte(0x32) // string_table
		w.WriteByte(byte(len(s)))
		w.WriteString(s)
	}
}
