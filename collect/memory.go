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

// pool is the memory for the bodies of all requests at work. It is taken as bodies arrive and
// not when they are announced, or a few clients that announce much and send nothing would keep
// out all others.
//
// When there is none left, bodies that still arrive are given up for new ones: those of the
// network that holds the most, if that is more than the network of the new one has, or else
// those that have been arriving for long. So who holds bodies back loses them, and nobody else.
type pool struct {
	most int64

	mu       sync.Mutex
	held     int64
	networks map[netip.Prefix]int64 // what each holds; those that are not known are one
	arriving *list.List             // of *memory, the oldest first

	buffers [32]sync.Pool // of *[]byte, by size
}

// longArriving is from when on a body has been arriving for long. All of a body of a browser
// that is near comes in less.
const longArriving = time.Second

func newPool(most int64) *pool {
	return &pool{most: most, networks: map[netip.Prefix]int64{}, arriving: list.New()}
}

// setMost says how much there is from now on. What is taken stays taken.
func (p *pool) setMost(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.most = n
}

// bytes returns how much is taken.
func (p *pool) bytes() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.held
}

// memory is what one request has taken of a pool. It is to be released.
type memory struct {
	of   *pool
	from netip.Prefix
	held int64

	began time.Time
	cut   func()        // ends the arrival at once
	place *list.Element // among those that arrive
	lost  bool          // it was given up
}

// errGivenUp says that a body was given up for others.
var errGivenUp = refuse(http.StatusServiceUnavailable, "busy", "body: it came too slowly while too many requests were at work; send this again later")

// arrive says that the body begins to arrive, and how to end that.
func (m *memory) arrive(cut func()) {
	m.of.mu.Lock()
	defer m.of.mu.Unlock()
	m.began, m.cut = time.Now(), cut
	m.place = m.of.arriving.PushBack(m)
}

// arrived says that the body is there. It returns an error if it was given up.
func (m *memory) arrived() error {
	m.of.mu.Lock()
	defer m.of.mu.Unlock()
	m.leave()
	if m.lost {
		return errGivenUp
	}
	return nil
}

// leave takes m off the list of those that arrive. It is called with the lock held.
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

// add counts n bytes more for m.
func (p *pool) add(m *memory, n int64) {
	m.held += n
	p.held += n
	if p.networks[m.from] += n; p.networks[m.from] == 0 {
		delete(p.networks, m.from)
	}
}

// victim returns the body to give up for n bytes more of m, nil if there is none.
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

// giveUp ends the arrival of a body. What it holds counts no more, since it is about to go. It is
// called with the lock held.
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

// errTooLong is returned by readAll.
var errTooLong = errors.New("too long")

// smallestBuffer is the size of the smallest buffer; each has twice the size of the one before.
const smallestBuffer = 4 << 10

// readAll reads r to its end, or returns errTooLong if that is after more than most
// bytes. Who sends many bodies slowly has as many buffers grow, so these are used again.
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
		var more [1]byte // is one too many
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

// buffer returns an empty buffer of a size.
func (p *pool) buffer(class int) []byte {
	if b, ok := p.buffers[class].Get().(*[]byte); ok {
		return (*b)[:0]
	}
	return make([]byte, 0, smallestBuffer<<class)
}

// giveBack takes a buffer that nobody uses any more.
func (p *pool) giveBack(class int, b []byte) {
	if class >= 0 {
		p.buffers[class].Put(&b)
	}
}
