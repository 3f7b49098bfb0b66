package collect

import (
	"container/list"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// pool is the memory for the bodies of all requests in progress. Memory is reserved as data
// arrives, not by Content-Length. Otherwise a few clients that announce large bodies and send
// nothing would block all others.
//
// When the pool is exhausted, incomplete bodies are cancelled in favour of new ones: bodies of the
// network that holds the most, if it holds more than the network of the new body, or else bodies
// that have been arriving for longer than longArriving. So a slow client loses its own bodies and
// affects no other client.
type pool struct {
	most int64

	mu       sync.Mutex
	held     int64
	networks map[netip.Prefix]int64 // bytes per network; all unknown networks count as one
	arriving *list.List             // of *memory, oldest first

	buffers [32]sync.Pool // of *[]byte, by size
}

// longArriving is the time after which a body counts as slow. A nearby browser sends a complete
// body in less.
const longArriving = time.Second

func newPool(most int64) *pool {
	return &pool{most: most, networks: map[netip.Prefix]int64{}, arriving: list.New()}
}

// setMost sets the size of the pool. Memory already reserved stays reserved.
func (p *pool) setMost(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.most = n
}

// bytes returns the number of reserved bytes.
func (p *pool) bytes() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.held
}

// memory is the part of a pool that one request has reserved. The caller must release it.
type memory struct {
	of   *pool
	from netip.Prefix
	held int64

	began time.Time
	cut   func()        // cancels reading
	place *list.Element // in pool.arriving
	lost  bool          // cancelled in favour of another body
}

// errGivenUp is returned for a body that was cancelled in favour of others.
var errGivenUp = refuse(http.StatusServiceUnavailable, "busy",
	"body: it came too slowly while too many requests were at work; send this again later")

// arrive marks the body as arriving. The pool calls cut to cancel it.
func (m *memory) arrive(cut func()) {
	m.of.mu.Lock()
	defer m.of.mu.Unlock()
	m.began, m.cut = time.Now(), cut
	m.place = m.of.arriving.PushBack(m)
}

// arrived marks the body as complete. It returns an error if the body was cancelled before.
func (m *memory) arrived() error {
	m.of.mu.Lock()
	defer m.of.mu.Unlock()
	m.leave()
	if m.lost {
		return errGivenUp
	}
	return nil
}

// leave removes m from the list of arriving bodies. The caller must hold the lock.
func (m *memory) leave() {
	if m.place != nil {
		m.of.arriving.Remove(m.place)
		m.place = nil
	}
}

func (m *memory) take(n int64) error {
	p := m.of
	p.mu.Lock()
	defer p.mu.Unlock()
	if m.lost {
		return errGivenUp
	}
	for p.held+n > p.most {
		victim := p.victim(m, n)
		if victim == nil {
			return refuse(http.StatusServiceUnavailable, "busy", "too many requests at work; send this again later")
		}
		victim.giveUp()
	}
	p.add(m, n)
	return nil
}

// add reserves n more bytes for m.
func (p *pool) add(m *memory, n int64) {
	m.held += n
	p.held += n
	if p.networks[m.from] += n; p.networks[m.from] == 0 {
		delete(p.networks, m.from)
	}
}

// victim returns the body to cancel so that m gets n more bytes, or nil if there is none.
func (p *pool) victim(m *memory, n int64) *memory {
	greediest, most := m.from, p.networks[m.from]+n
	for network, held := range p.networks {
		if held > most {
			greediest, most = network, held
		}
	}
	for e := p.arriving.Front(); e != nil; e = e.Next() {
		x := e.Value.(*memory)
		if x != m && (greediest != m.from && x.from == greediest || time.Since(x.began) >= longArriving) {
			return x
		}
	}
	return nil
}

// giveUp cancels the arrival of a body. Its bytes count as free from now on, since they will be
// released soon. The caller must hold the lock.
func (m *memory) giveUp() {
	m.leave()
	m.of.add(m, -m.held)
	m.lost = true
	m.cut()
}

func (m *memory) release() {
	m.of.mu.Lock()
	defer m.of.mu.Unlock()
	m.leave()
	m.of.add(m, -m.held)
}

// errTooLong is returned by readAll if the input exceeds the limit.
var errTooLong = errors.New("too long")

// smallestBuffer is the size of the smallest buffer. Each class is twice as large as the one
// before.
const smallestBuffer = 4 << 10

// readAll reads r until io.EOF. It returns errTooLong if there are more than most bytes. Buffers
// are pooled, because many slow bodies would grow many buffers.
func (m *memory) readAll(r io.Reader, most int64) ([]byte, error) {
	var buf []byte
	class := -1
	defer func() { m.of.giveBack(class, buf) }()
	for {
		if len(buf) == cap(buf) && int64(len(buf)) < most {
			if err := m.take(max(smallestBuffer, int64(cap(buf)))); err != nil {
				return nil, err
			}
			larger := append(m.of.buffer(class+1), buf...)
			m.of.giveBack(class, buf)
			buf, class = larger, class+1
		}
		var more [1]byte // would be one too many
		into := buf[len(buf):min(int64(cap(buf)), max(most, int64(len(buf))))]
		if len(into) == 0 {
			into = more[:]
		}
		n, err := r.Read(into)
		if int64(len(buf)+n) > most {
			return nil, errTooLong
		}
		buf = buf[:len(buf)+n]
		switch {
		case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
			return append(make([]byte, 0, len(buf)), buf...), nil
		case err != nil:
			return nil, err
		}
	}
}

// buffer returns an empty buffer of a size class.
func (p *pool) buffer(class int) []byte {
	if b, ok := p.buffers[class].Get().(*[]byte); ok {
		return (*b)[:0]
	}
	return make([]byte, 0, smallestBuffer<<class)
}

// giveBack returns an unused buffer to the pool.
func (p *pool) giveBack(class int, b []byte) {
	if class >= 0 {
		p.buffers[class].Put(&b)
	}
}
