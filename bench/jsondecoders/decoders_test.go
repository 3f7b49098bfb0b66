package jsondecoders

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"
)

// document is one of the two inputs.
type document struct {
	name string // of the environment variable that names the file
	read func(decoder) func(io.Reader) (found, error)
}

var documents = []document{
	{"PROFILE", func(d decoder) func(io.Reader) (found, error) { return d.profile }},
	{"TRACE", func(d decoder) func(io.Reader) (found, error) { return d.trace }},
}

func Benchmark(b *testing.B) {
	for _, doc := range documents {
		text, err := os.ReadFile(os.Getenv(doc.name))
		if err != nil {
			b.Fatalf("%s does not name a file: %v", doc.name, err)
		}
		for _, d := range decoders {
			b.Run(doc.name+"/"+strings.NewReplacer(" ", "_", "/", ".").Replace(d.name), func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(text)))
				debug.FreeOSMemory() // what the one before left
				before := cpuTime(b)
				for b.Loop() {
					if _, err := doc.read(d)(inMemory{bytes.NewReader(text), text}); err != nil {
						b.Fatal(err)
					}
				}
				cpu := (cpuTime(b) - before) / time.Duration(b.N)
				b.ReportMetric(float64(cpu.Milliseconds()), "cpu-ms/op")
				b.ReportMetric(float64(len(text))/1e6/cpu.Seconds(), "MB/cpu-s")
			})
		}
	}
}

// cpuTime returns the processor time of this process, garbage collection included.
func cpuTime(b *testing.B) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// TestMain is also what the tests run for each library in a process of its own: to see
// how much memory it takes, and whether it ends the process.
func TestMain(m *testing.M) {
	name, ok := os.LookupEnv("DECODER")
	if !ok {
		os.Exit(m.Run())
	}
	for _, d := range decoders {
		if d.name != name {
			continue
		}
		f, err := os.Open(os.Getenv("DOCUMENT"))
		if err != nil {
			panic(err)
		}
		read := d.profile
		if os.Getenv("KIND") == "TRACE" {
			read = d.trace
		}
		got, err := read(f)
		fmt.Printf("%d nodes %d samples %d events|%s|%v|%q", got.nodes, got.samples, got.events, peak(), err != nil, got.name)
		os.Exit(0)
	}
	panic("no decoder " + name)
}

// peak returns the largest size that this process had, in MB.
func peak() string {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		var kb int
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kb); n == 1 {
			return fmt.Sprintf("%d MB", kb*1024/1e6)
		}
	}
	return "?"
}

// alone decodes a file by a decoder in a process of its own.
func alone(d decoder, kind, file string) (fields []string, crash string) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "DECODER="+d.name, "KIND="+kind, "DOCUMENT="+file)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		first, _, _ := strings.Cut(complaints.String(), "\n")
		return nil, errors.Join(err, errors.New(first)).Error()
	}
	return strings.Split(string(out), "|"), ""
}

// TestPeak shows how much memory each library takes for a file, and that all find the
// same in it. Ours counts the root, and no profile events.
func TestPeak(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it reads /proc")
	}
	for _, doc := range documents {
		file := os.Getenv(doc.name)
		if file == "" {
			t.Skipf("%s does not name a file", doc.name)
		}
		for _, d := range decoders {
			fields, crash := alone(d, doc.name, file)
			if crash != "" {
				t.Errorf("%s %s: %s", doc.name, d.name, crash)
				continue
			}
			t.Logf("%-8s %-17s %7s  %s", doc.name, d.name, fields[1], fields[0])
		}
	}
}

// hostile are documents that are not JSON, or on which readers differ.
var hostile = []struct{ name, text string }{
	{"fine", node1(`1`, `"f"`)},
	{"number 01", node1(`01`, `"f"`)},
	{"number +1", node1(`+1`, `"f"`)},
	{"number 1.", node1(`1.`, `"f"`)},
	{"number -", node1(`-`, `"f"`)},
	{"escape \\x", node1(`1`, `"\x41"`)},
	{"control character in a string", node1(`1`, "\"a\x01b\"")},
	{"lone surrogate", node1(`1`, `"\ud800"`)},
	{"invalid UTF-8", node1(`1`, "\"a\xffb\"")},
	{"invalid UTF-8 in a key", `{"x` + "\xff" + `":1,` + node1(`1`, `"f"`)[1:]},
	{"trailing garbage", node1(`1`, `"f"`) + "x"},
	{"second document", node1(`1`, `"f"`) + "{}"},
	{"duplicate keys", `{"samples":[1],` + node1(`1`, `"f"`)[1:]},
	{"duplicate keys in a node", strings.Replace(node1(`1`, `"f"`), `"id":1`, `"id":1,"id":1`, 1)},
	{"key in capitals", strings.Replace(node1(`1`, `"f"`), `"functionName"`, `"FUNCTIONNAME"`, 1)},
	{"comma before the end", strings.Replace(node1(`1`, `"f"`), `"samples":[1]`, `"samples":[1,]`, 1)},
	{"comment", `/**/` + node1(`1`, `"f"`)},
	{"truncated", node1(`1`, `"f"`)[:60]},
	{"byte order mark", "\ufeff" + node1(`1`, `"f"`)},
	{"nested 9,000 deep", deep(9_000)},
	{"nested 100,000 deep", deep(100_000)},
	{"nested 10,000,000 deep", deep(10_000_000)},
	{"number of 1,000,000 digits", node1(strings.Repeat("1", 1_000_000), `"f"`)},
	{"01 in a member nobody asks for", after(`01`)},
	{"[01] in a member nobody asks for", after(`[01]`)},
	{"[\"\\x\"] in a member nobody asks for", after(`["\x"]`)},
	{"[1 2] in a member nobody asks for", after(`[1 2]`)},
	{"[} in a member nobody asks for", after(`[}`)},
}

// node1 is a profile with one node.
func node1(id, name string) string {
	return `{"nodes":[{"id":` + id + `,"callFrame":{"functionName":` + name +
		`,"url":"a.js","lineNumber":1,"columnNumber":2}}],"samples":[1],"timeDeltas":[1]}`
}

// deep is a profile with a member that is nested, which nobody asks for.
func deep(n int) string {
	return `{"x":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `,` + node1(`1`, `"f"`)[1:]
}

// after is a profile with a member at its end that nobody asks for.
func after(value string) string {
	return strings.TrimSuffix(node1(`1`, `"f"`), "}") + `,"x":` + value + `}`
}

// TestHostile shows what each library does with hostile documents.
func TestHostile(t *testing.T) {
	dir := t.TempDir()
	var table strings.Builder
	table.WriteString("| document |")
	for _, d := range decoders {
		fmt.Fprintf(&table, " %s |", d.name)
	}
	table.WriteString("\n|---|" + strings.Repeat("---|", len(decoders)))
	for i, h := range hostile {
		file := fmt.Sprintf("%s/%d", dir, i)
		if err := os.WriteFile(file, []byte(h.text), 0o644); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&table, "\n| %s |", h.name)
		for _, d := range decoders {
			fields, crash := alone(d, "PROFILE", file)
			switch {
			case crash != "":
				t.Logf("%s of %s: %s", d.name, h.name, crash)
				table.WriteString(" **crashes** |")
			case fields[2] == "true":
				table.WriteString(" refuses |")
			default:
				fmt.Fprintf(&table, " %s |", fields[3])
			}
		}
	}
	t.Logf("\n%s", table.String())
}
