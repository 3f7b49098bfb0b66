package input

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
)

// tokens reads a document and describes its tokens, up to the first error.
func tokens(r *JSON, out *strings.Builder) {
	var value func(depth int)
	value = func(depth int) {
		if depth > 500 {
			r.Skip()
			return
		}
		switch r.Peek() {
		case '{':
			out.WriteString("{")
			for r.Object(); r.Key(); {
				fmt.Fprintf(out, "%q:", r.Name)
				value(depth + 1)
			}
			out.WriteString("}")
		case '[':
			out.WriteString("[")
			for r.Array(); r.Element(); {
				value(depth + 1)
			}
			out.WriteString("]")
		case '"':
			fmt.Fprintf(out, "%q,", r.Str())
		case 't':
			r.literal("true")
			out.WriteString("true,")
		case 'f':
			r.literal("false")
			out.WriteString("false,")
		case 'n':
			r.Null()
			out.WriteString("null,")
		default:
			fmt.Fprintf(out, "%v,", r.Float())
		}
	}
	value(0)
	r.End()
}

// checkJSONStream reads a document in pieces and as a whole, and compares the results.
func checkJSONStream(t *testing.T, data []byte) {
	t.Helper()
	var whole, streamed JSON
	var want, got strings.Builder
	whole.Reset(data)
	tokens(&whole, &want)
	streamed.Stream(iotest.OneByteReader(bytes.NewReader(data)))
	tokens(&streamed, &got)
	place := func(err error) string { // the text there may be truncated
		return strings.Join(strings.SplitN(fmt.Sprint(err), ":", 3)[:min(2, strings.Count(fmt.Sprint(err), ":")+1)],
			":")
	}
	if place(whole.Err) != place(streamed.Err) {
		t.Fatalf("%.80q: got error %v, want %v", data, streamed.Err, whole.Err)
	}
	if whole.Err == nil && want.String() != got.String() {
		t.Fatalf("%.80q: got %s, want %s", data, got.String(), want.String())
	}
	if whole.Err != nil {
		return
	}
	streamed.Stream(iotest.OneByteReader(bytes.NewReader(data)))
	streamed.Skip()
	streamed.End()
	if streamed.Err != nil {
		t.Fatalf("%.80q: skip: %v", data, streamed.Err)
	}
}

func TestJSONStream(t *testing.T) {
	for _, c := range fixture.JsonCases {
		if len(c) < 100_000 {
			checkJSONStream(t, []byte(c))
		}
	}
	checkJSONStream(t, []byte("\ufeff"+`{"a\u0041é" : [1, 2.5, -3e2, "x\"y\\", ""], "b": {"c":"\\"}}`))
}

func FuzzJSONStream(f *testing.F) {
	for _, c := range fixture.JsonCases {
		if len(c) < 10_000 {
			f.Add([]byte(c))
		}
	}
	f.Fuzz(checkJSONStream)
}

// An error of the reader other than io.EOF is returned.
func TestJSONStreamError(t *testing.T) {
	broken := errors.New("broken")
	for _, text := range []string{``, `{`, `{"a`, `{"a":`, `{"a":1`, `{"a":1,"b":[tr`, `["\`} {
		var r JSON
		r.Stream(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)))
		var out strings.Builder
		tokens(&r, &out)
		if !errors.Is(r.Err, broken) || r.Ended {
			t.Errorf("%q: got %v, ended %v", text, r.Err, r.Ended)
		}
	}
}

// Skipping a long string or a large value uses no memory for it.
func TestJSONStreamMemory(t *testing.T) {
	long := func() io.Reader {
		return io.MultiReader(strings.NewReader(`["`), io.LimitReader(repeated(`x\"y\\`), 6*14<<20),
			strings.NewReader(`", [`), io.LimitReader(repeated(`{"a":[1,"]"]},`), 14*1<<20), strings.NewReader(`0]]`))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var r JSON
	r.Stream(long())
	for r.Array(); r.Element(); {
		r.Skip()
	}
	r.End()
	runtime.ReadMemStats(&after)
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 8*jsonWindow {
		t.Errorf("%d bytes were allocated", n)
	}
	r.Stream(long())
	r.Array()
	r.Element()
	if r.Str(); KindOf(r.Err) != TooLarge {
		t.Errorf("a string of 80 MiB that is not skipped: %v", r.Err)
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

// A value is appended unchanged, wherever the windows end. A value that is too long is skipped.
func TestJSONAppendValue(t *testing.T) {
	long := `"` + strings.Repeat(`x\"`, jsonWindow/2) + `"`
	for _, value := range []string{`{}`, `{ "a" : [1, "]}\\"] }`, `[]`, `"\u00e9\""`, `-1.5e3`, `true`, `null`, long,
		`[` + long + `,` + long + `]`} {
		for name, src := range map[string]func(io.Reader) io.Reader{"unchanged": func(r io.Reader) io.Reader {
			return r
		}, "by half": iotest.HalfReader} {
			for _, most := range []int{len(value), len(value) - 1} {
				var r JSON
				r.Stream(src(strings.NewReader(`{"a": ` + value + ` ,"b":7}`)))
				r.Object()
				r.Key()
				got, whole := r.AppendValue([]byte("to "), most)
				want := "to "
				if most == len(value) {
					want += value
				}
				if string(got) != want || whole != (most == len(value)) {
					t.Errorf("%s: %.20s: got %.20q of %d bytes, complete %v", name, value, got, len(got), whole)
				}
				if !r.Key() || string(r.Name) != "b" || r.Float() != 7 || r.Key() || r.Err != nil {
					t.Errorf("%s: %.20s: %v after it", name, value, r.Err)
				}
			}
		}
	}
	var r JSON
	r.Stream(strings.NewReader(`{"a":[1,`))
	r.Object()
	r.Key()
	if got, whole := r.AppendValue(nil, 100); len(got) > 0 || whole || !r.Ended {
		t.Errorf("truncated: got %q, %v, %v", got, whole, r.Err)
	}
}
