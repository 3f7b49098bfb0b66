package jsondecoders

import (
	"errors"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

func init() {
	decoders = append(decoders, decoder{"jsontext tokens", func(r io.Reader) (found, error) {
		t := tokens{d: jsontext.NewDecoder(r)}
		var p profile
		t.profile(&p)
		t.end()
		return p.found(), t.err
	}, func(r io.Reader) (found, error) {
		t := tokens{d: jsontext.NewDecoder(r)}
		var out trace
		t.trace(&out)
		t.end()
		return out.found(), t.err
	}})
}

// tokens reads a document token by token. The first error sticks.
type tokens struct {
	d   *jsontext.Decoder
	err error
}

func (t *tokens) token() jsontext.Token {
	if t.err != nil {
		return jsontext.Token{}
	}
	token, err := t.d.ReadToken()
	t.err = err
	return token
}

func (t *tokens) end() {
	if t.err == nil {
		if _, err := t.d.ReadToken(); err == nil {
			t.err = errors.New("something after the document")
		} else if err != io.EOF {
			t.err = err
		}
	}
}

// members calls member with each key of the object that comes next, as it stands there;
// what is no object is passed over.
func (t *tokens) members(member func(key jsontext.Value)) {
	if t.err == nil && t.d.PeekKind() != '{' {
		t.skip()
		return
	}
	for t.token(); t.err == nil && t.d.PeekKind() != '}'; {
		key, err := t.d.ReadValue() // a token would be copied
		if t.err = err; err == nil {
			member(key)
		}
	}
	t.token()
}

// elements calls element before each element of the array that comes next.
func (t *tokens) elements(element func()) {
	if t.err == nil && t.d.PeekKind() != '[' {
		t.skip()
		return
	}
	for t.token(); t.err == nil && t.d.PeekKind() != ']'; {
		element()
	}
	t.token()
}

func (t *tokens) skip() {
	if t.err == nil {
		t.err = t.d.SkipValue()
	}
}

// number returns the text of the number that comes next. Token.Int has one result in some
// versions of the package and two in others.
func (t *tokens) number() []byte {
	if t.err != nil {
		return nil
	}
	if t.d.PeekKind() != '0' {
		t.skip()
		return nil
	}
	text, err := t.d.ReadValue()
	t.err = err
	return text
}

func (t *tokens) integer() int64 {
	text := t.number()
	if text == nil {
		return 0
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		t.err = err
	}
	return n
}

func (t *tokens) float() float64 {
	text := t.number()
	if text == nil {
		return 0
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		t.err = err
	}
	return f
}

func (t *tokens) text() string {
	if token := t.token(); t.err == nil && token.Kind() == '"' {
		return token.String()
	}
	return ""
}

func (t *tokens) integers(list *[]int64) {
	t.elements(func() { *list = append(*list, t.integer()) })
}

func (t *tokens) profile(p *profile) {
	t.members(func(key jsontext.Value) {
		switch string(key) {
		case `"nodes"`:
			t.elements(func() {
				var n node
				t.node(&n)
				p.Nodes = append(p.Nodes, n)
			})
		case `"samples"`:
			t.integers(&p.Samples)
		case `"timeDeltas"`:
			t.integers(&p.TimeDeltas)
		default:
			t.skip()
		}
	})
}

func (t *tokens) node(n *node) {
	t.members(func(key jsontext.Value) {
		switch string(key) {
		case `"id"`:
			n.ID = t.integer()
		case `"parent"`:
			n.Parent = t.integer()
		case `"children"`:
			t.integers(&n.Children)
		case `"callFrame"`:
			t.members(func(key jsontext.Value) {
				switch f := &n.CallFrame; string(key) {
				case `"functionName"`:
					f.FunctionName = t.text()
				case `"url"`:
					f.URL = t.text()
				case `"lineNumber"`:
					f.LineNumber = t.integer()
				case `"columnNumber"`:
					f.ColumnNumber = t.integer()
				default:
					t.skip()
				}
			})
		default:
			t.skip()
		}
	})
}

func (t *tokens) trace(out *trace) {
	t.members(func(key jsontext.Value) {
		if string(key) != `"traceEvents"` {
			t.skip()
			return
		}
		t.elements(func() {
			var e event
			t.event(&e)
			out.TraceEvents = append(out.TraceEvents, e)
		})
	})
}

func (t *tokens) event(e *event) {
	t.members(func(key jsontext.Value) {
		switch string(key) {
		case `"name"`:
			e.Name = t.text()
		case `"ph"`:
			e.Ph = t.text()
		case `"cat"`:
			e.Cat = t.text()
		case `"ts"`:
			e.Ts = t.float()
		case `"dur"`:
			e.Dur = t.float()
		case `"pid"`:
			e.Pid = t.integer()
		case `"tid"`:
			e.Tid = t.integer()
		case `"args"`:
			t.members(func(key jsontext.Value) {
				if string(key) != `"data"` {
					t.skip()
					return
				}
				t.members(func(key jsontext.Value) {
					switch d := &e.Args.Data; string(key) {
					case `"cpuProfile"`:
						t.profile(&d.CPUProfile)
					case `"timeDeltas"`:
						t.integers(&d.TimeDeltas)
					case `"sampleTraceId"`:
						d.SampleTraceID = int64(t.float())
					default:
						t.skip()
					}
				})
			})
		default:
			t.skip()
		}
	})
}
