package encode

import (
	"errors"

	"github.com/fieldtrie/fieldtrie/trie"
)

// DecodeTraceJSON reads one trace in either JSON form of the API; the content tells
// which.
func DecodeTraceJSON(data []byte, lim Limits) (*trie.Trace, error) {
	t, err := DecodeProfilerTrace(data, lim)
	if err != nil && isProposal(data) { // looking first would cost every trace a pass
		return DecodeProposal(data, lim)
	}
	return t, err
}

// ErrTooMany says that a batch has more documents than asked for.
var ErrTooMany = errors.New("too many documents")

// SplitJSON cuts data into its JSON objects, which stand in one array or one after the
// other. It returns ErrTooMany once there are more than most.
func SplitJSON(data []byte, most int) ([][]byte, error) {
	var r jsonReader
	r.reset(data)
	var out [][]byte
	take := func() bool {
		r.peek()
		from := r.pos
		r.skip()
		if r.err == nil {
			out = append(out, data[from:r.pos])
		}
		return r.err == nil && len(out) <= most
	}
	if r.peek() == '[' {
		for r.array(); r.element() && take(); {
		}
		r.end()
	} else {
		for r.peek() != 0 && take() {
		}
		if r.pos < len(data) && len(out) <= most {
			r.end() // stopped at something that is not white space
		}
	}
	if len(out) > most {
		return nil, ErrTooMany
	}
	return out, r.err
}
