package encode

import (
	"errors"

	"github.com/fieldtrie/fieldtrie/encode/internal/input"
	"github.com/fieldtrie/fieldtrie/trie"
)

// DecodeTraceJSON reads one trace in either JSON form of the API, detected by content.
func DecodeTraceJSON(data []byte, lim Limits) (*trie.Trace, error) {
	// The older form is rare, and detecting it may require reading everything.
	if !IsProfilerTrace(data) && IsProposal(data) {
		return DecodeProposal(data, lim)
	}
	return DecodeProfilerTrace(data, lim)
}

// ErrTooMany is returned if a batch has more documents than allowed.
var ErrTooMany = errors.New("too many documents")

// SplitJSON cuts data into documents: the elements of one array of any values, or consecutive
// objects, with or without white space between them. It returns ErrTooMany if there are more than
// most. A byte that is not JSON makes all of data malformed, since the start of the next document
// is then unknown.
func SplitJSON(data []byte, most int) ([][]byte, error) {
	var r input.JSON
	r.Reset(data)
	var out [][]byte
	take := func() bool {
		r.Peek()
		from := r.Pos
		if r.Skip(); r.Err != nil {
			return false
		}
		out = append(out, data[from:r.Pos:r.Pos])
		return len(out) <= most
	}
	if r.Peek() == '[' {
		for r.Array(); r.Element() && take(); {
		}
	} else {
		for r.Peek() == '{' && take() {
		}
	}
	if len(out) > most {
		return nil, ErrTooMany
	}
	if r.End(); r.Err != nil {
		return nil, r.Err
	}
	return out, nil
}
