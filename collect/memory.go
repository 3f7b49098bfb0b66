package collect

import (
	"errors"
	"io"
	"net/http"
	"sync/atomic"
)

// memory is what one request has taken of the memory for bodies, which all share. It is
// taken as bodies arrive and not when they are announced, or a few clients that announce
// much and send nothing would keep out all others.
type memory struct {
	of   *atomic.Int64
	most int64
	held int64
}

func (m *memory) take(n int64) error {
	if m.of.Add(n) > m.most {
		m.of.Add(-n)
		return refuse(http.StatusServiceUnavailable, "busy", "too many requests at work; send this again later")
	}
	m.held += n
	return nil
}

func (m *memory) release() { m.of.Add(-m.held) }

// errTooLong is returned by readAll.
var errTooLong = errors.New("too long")

// readAll reads r to its end, or returns errTooLong if that is after more than most
// bytes.
func (m *memory) readAll(r io.Reader, most int64) ([]byte, error) {
	var buf []byte
	for {
		if len(buf) == cap(buf) {
			size := min(max(2*int64(cap(buf)), 4<<10), most+1)
			if err := m.take(size - int64(cap(buf))); err != nil {
				return nil, err
			}
			buf = append(make([]byte, 0, size), buf...)
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case int64(len(buf)) > most:
			return nil, errTooLong
		case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
			return buf, nil
		case err != nil:
			return nil, err
		}
	}
}
