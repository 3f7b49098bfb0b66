package encode

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
)

// tokens reads a document and says what it is made of, up to the first error.
func tokens(r *jsonReader, out *strings.Builder) {
	var value func(depth int)
	value = func(depth int) {
		if depth > 500 {
			r.skip()
			return
		}
		switch r.peek() {
		case '{':
			out.WriteString("{")
			for r.object(); r.key(); {
				fmt.Fprintf(out, "%q:", r.name)
				value(depth + 1)
			}
			out.WriteString("}")
		case '[':
			out.WriteString("[")
			for r.array(); r.element(); {
				value(depth + 1)
			}
			out.WriteString("]")
		case '"':
			fmt.Fprintf(out, "%q,", r.str())
		case 't':
			r.literal("true")
			out.WriteString("true,")
		case 'f':
			r.literal("false")
			out.WriteString("false,")
		case 'n':
			r.null()
			out.WriteString("null,")
		default:
			fmt.Fprintf(out, "%v,", r.float())
		}
	}
	value(0)
	r.end()
}

// checkJSONStream reads a document in pieces and at once: the pieces must not matter.
func checkJSONStream(t *testing.T, data []byte) {
	t.Helper()
	var whole, streamed jsonReader
	var want, got strings.Builder
	whole.reset(data)
	tokens(&whole, &want)
	streamed.stream(iotest.OneByteReader(bytes.NewReader(data)))
	tokens(&streamed, &got)
	place := func(err error) string { // what stands there may be cut
		return strings.Join(strings.SplitN(fmt.Sprint(err), ":", 3)[:min(2, strings.Count(fmt.Sprint(err), ":")+1)], ":")
	}
	if place(whole.err) != place(streamed.err) {
		t.Fatalf("%.80q: got error %v, want %v", data, streamed.err, whole.err)
	}
	if whole.err == nil && want.String() != got.String() {
		t.Fatalf("%.80q: got %s, want %s", data, got.String(), want.String())
	}
	if whole.err != nil {
		return
	}
	streamed.stream(iotest.OneByteReader(bytes.NewReader(data)))
	streamed.skip()
	streamed.end()
	if streamed.err != nil {
		t.Fatalf("%.80q: skip: %v", data, streamed.err)
	}
}

func TestJSONStream(t *testing.T) {
	for _, c := range jsonCases {
		if len(c) < 100_000 {
			checkJSONStream(t, []byte(c))
		}
	}
	checkJSONStream(t, []byte("\ufeff"+`{"a\u0041é" : [1, 2.5, -3e2, "x\"y\\", ""], "b": {"c":"\\"}}`))
}

func FuzzJSONStream(f *testing.F) {
	for _, c := range jsonCases {
		if len(c) < 10_000 {
			f.Add([]byte(c))
		}
	}
	f.Fuzz(checkJSONStream)
}

// A stream that breaks off for another reason than its end says so.
func TestJSONStreamError(t *testing.T) {
	broken := errors.New("broken")
	for _, text := range []string{``, `{`, `{"a`, `{"a":`, `{"a":1`, `{"a":1,"b":[tr`, `["\`} {
		var r jsonReader
		r.stream(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)))
		var out strings.Builder
		tokens(&r, &out)
		if !errors.Is(r.err, broken) || r.ended {
			t.Errorf("%q: got %v, ended %v", text, r.err, r.ended)
		}
	}
}

// Skipping a long string or a large value takes no memory for it.
func TestJSONStreamMemory(t *testing.T) {
	long := func() io.Reader {
		return io.MultiReader(strings.NewReader(`["`), io.LimitReader(repeated(`x\"y\\`), 6*14<<20),
			strings.NewReader(`", [`), io.LimitReader(repeated(`{"a":[1,"]"]},`), 14*1<<20), strings.NewReader(`0]]`))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var r jsonReader
	r.stream(long())
	for r.array(); r.element(); {
		r.skip()
	}
	r.end()
	runtime.ReadMemStats(&after)
	if r.err != nil {
		t.Fatal(r.err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 8*jsonWindow {
		t.Errorf("%d bytes were allocated", n)
	}
	r.stream(long())
	r.array()
	r.element()
	if r.str(); KindOf(r.err) != TooLarge {
		t.Errorf("a string of 80 MiB that is wanted: %v", r.err)
	}
}

// repeated reads text again and again.
func repeated(text string) io.Reader { return &repeater{text: text} }

type repeater struct {
	text string
	at   int
}

func (r *repeater) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = r.text[r.at]
		r.at = (r.at + 1) % len(r.text)
	}
	return len(p), nil
}
