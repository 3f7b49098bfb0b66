package hostile

import (
	"bufio"
	"fmt"
	"strings"
)

// trace writes a Chrome trace with n events. event must write event i to w.
func trace(w *bufio.Writer, n int, event func(i int)) {
	w.WriteString(`{"traceEvents":[`)
	list(w, n, event)
	w.WriteString(`]}`)
}

// complete writes an event with a length.
func complete(w *bufio.Writer, name string, start, length int) {
	fmt.Fprintf(w, `{"ph":"X","pid":1,"tid":1,"name":"%s","ts":%d,"dur":%d}`, name, start, length)
}

// CrossingEvents has events that each begin within the previous one and outlive it.
func CrossingEvents(w *bufio.Writer, n int) {
	trace(w, n, func(i int) { complete(w, "e", i+1, 2*n) })
}

// NestedEvents has n events, each within the previous one.
func NestedEvents(w *bufio.Writer, n int) {
	trace(w, n, func(i int) { complete(w, "e", i+1, 2*(n-i)) })
}

// NativeEvents has n/2 nested events of the browser's own work, and samples within the
// innermost.
func NativeEvents(w *bufio.Writer, n int) {
	n /= 2
	trace(w, n+1, func(i int) {
		if i < n {
			complete(w, "Layout", i+1, 4*n-2*i)
			return
		}
		sampled(w, n, 2, func(k int) (int, int) { return k%2 + 2, 1 })
	})
}

// sampled writes an event with a profile: a chain of depth nodes, from 2 on, and n samples
// with times, given by sample.
func sampled(w *bufio.Writer, n, depth int, sample func(k int) (node, delta int)) {
	fmt.Fprintf(w, `{"ph":"P","pid":1,"tid":1,"id":"0x1","ts":%d,"name":"Profile","args":{"data":{"startTime":%d}}},`,
		n, n)
	fmt.Fprintf(w, `{"ph":"P","pid":1,"tid":1,"id":"0x1","ts":%d,"name":"ProfileChunk",`+
		`"args":{"data":{"cpuProfile":{"nodes":[{"id":1,"callFrame":{"functionName":"(root)"}}`, n)
	for i := range depth {
		fmt.Fprintf(w, `,{"id":%d,"parent":%d,"callFrame":{"functionName":"f%d"}}`, i+2, i+1, i)
	}
	w.WriteString(`],"samples":[`)
	list(w, n, func(k int) {
		node, _ := sample(k)
		fmt.Fprint(w, node)
	})
	w.WriteString(`]},"timeDeltas":[`)
	list(w, n, func(k int) {
		_, delta := sample(k)
		fmt.Fprint(w, delta)
	})
	w.WriteString(`]}}}`)
}

// Measures has n/2 nested measures of a page above a stack of n/2 calls. Each call continues
// in all of them.
func Measures(w *bufio.Writer, n int) {
	n /= 2
	trace(w, n+2, func(i int) {
		switch {
		case i == 0:
			complete(w, "FunctionCall", 1, 10*n)
		case i <= n:
			fmt.Fprintf(w, `{"ph":"b","cat":"blink.user_timing","pid":1,"tid":1,"id":"0x%d","name":"m%d","ts":%d},`,
				i, i, 3*n+i)
			fmt.Fprintf(w, `{"ph":"e","cat":"blink.user_timing","pid":1,"tid":1,"id":"0x%d","name":"m%d","ts":%d}`,
				i, i, 8*n-i)
		default:
			sampled(w, n, n, func(int) (int, int) { return n + 1, 2 })
		}
	})
}

// DeepInEvents has a stack of n/3 calls interrupted by n/3 events, and n/3 samples.
func DeepInEvents(w *bufio.Writer, n int) {
	n /= 3
	trace(w, n+2, func(i int) {
		switch {
		case i == 0:
			complete(w, "FunctionCall", 1, 10*n)
		case i <= n:
			complete(w, "Layout", 2*n+4*i, 2)
		default:
			sampled(w, n, n, func(k int) (int, int) { return n + 1 - k%2, 4 })
		}
	})
}

// DeepProfile has a stack of n/2 calls and n/2 samples of its last two.
func DeepProfile(w *bufio.Writer, n int) {
	n /= 2
	cpuProfile(w, n, func(i int) int { return i + 1 }, n, func(k int) int { return n + 1 - k%2 })
}

// AlternatingProfile has two stacks of n/4 calls and n/2 samples that alternate between them.
// With each sample all calls of one stack end and all of the other begin.
func AlternatingProfile(w *bufio.Writer, n int) {
	n /= 4
	parent := func(i int) int {
		if i < 2 {
			return 1
		}
		return i
	}
	cpuProfile(w, 2*n, parent, 2*n, func(k int) int { return 2*n + k%2 })
}

// WholeStacks has n/8 samples that alternate between two stacks, as deep as browsers record
// them.
func WholeStacks(w *bufio.Writer, n int) {
	const depth = 255
	parent := func(i int) int { return 1 + max(i-1, 0)*min(i%depth, 1) + min(i%depth, 1) }
	cpuProfile(w, 2*depth, parent, n/8, func(k int) int { return 1 + depth*(1+k%2) })
}

// DenseProfile has at most two bytes for a sample and for its time.
func DenseProfile(w *bufio.Writer, n int) {
	cpuProfile(w, 2, func(i int) int { return i + 1 }, n, func(int) int { return 2 })
}

// cpuProfile writes nodes from 2 on, with parents given by parent, numbered from 0, and
// samples of them.
func cpuProfile(w *bufio.Writer, nodes int, parent func(i int) int, samples int, sample func(k int) int) {
	w.WriteString(`{"nodes":[{"id":1,"callFrame":{"functionName":"(root)"}}`)
	for i := range nodes {
		fmt.Fprintf(w, `,{"id":%d,"parent":%d,"callFrame":{"functionName":"f%d"}}`, i+2, parent(i), i%7)
	}
	w.WriteString(`],"samples":[`)
	list(w, samples, func(k int) { fmt.Fprint(w, sample(k)) })
	w.WriteString(`],"timeDeltas":[`)
	list(w, samples, func(int) { w.WriteByte('1') })
	w.WriteString(`]}`)
}

// CircularProfile has nodes that are their own ancestors: a cycle through all nodes, and a
// node that is its own child.
func CircularProfile(w *bufio.Writer, n int) {
	w.WriteString(`{"nodes":[`)
	list(w, n, func(i int) {
		fmt.Fprintf(w, `{"id":%d,"callFrame":{"functionName":"f%d"},"children":[%d,%d]}`, i+1, i%7, (i+1)%n+1, i+1)
	})
	w.WriteString(`],"samples":[`)
	list(w, n, func(i int) { fmt.Fprint(w, i+1) })
	w.WriteString(`],"timeDeltas":[`)
	list(w, n, func(int) { w.WriteByte('1') })
	w.WriteString(`]}`)
}

// TreeProfile is in the older form, with calls nested as deep as the limit.
func TreeProfile(w *bufio.Writer, n int) {
	n = min(n, 90_000)
	w.WriteString(`{"head":`)
	for i := range n {
		fmt.Fprintf(w, `{"functionName":"f","hitCount":1,"id":%d,"children":[`, i+1)
	}
	w.WriteString(strings.Repeat("]}", n))
	fmt.Fprintf(w, `,"samples":[%d,1],"timestamps":[1,2]}`, n)
}

// Threads has n threads with a profile of one sample each.
func Threads(w *bufio.Writer, n int) {
	trace(w, n, func(i int) { tiny(w, i+1, i+1, 1) })
}

// Profiles has one thread with n profiles at the same time.
func Profiles(w *bufio.Writer, n int) {
	trace(w, n, func(i int) { tiny(w, 1, i+1, 1) })
}

// ProfilesInTurn has one thread with n/2 profiles one after the other, and n/2 events that
// last as long as all of them.
func ProfilesInTurn(w *bufio.Writer, n int) {
	n /= 2
	trace(w, 2*n, func(i int) {
		if i < n {
			complete(w, "e", i+1, 20*n-2*i)
		} else {
			tiny(w, 1, i+1, 2*n+10*(2*n-i))
		}
	})
}

// tiny writes a profile of one sample.
func tiny(w *bufio.Writer, thread, id, at int) {
	fmt.Fprintf(w, `{"ph":"P","pid":1,"tid":%d,"id":"0x%x","ts":%d,"name":"Profile",`+
		`"args":{"data":{"cpuProfile":{"nodes":[{"id":2,"callFrame":{"functionName":"f%d"}}],"samples":[2]},`+
		`"timeDeltas":[1],"startTime":%d}}}`, thread, id, at, id, at)
}
