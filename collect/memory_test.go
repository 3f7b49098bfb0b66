package collect

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
)

// TestHeldBodiesGiveWay checks over real connections that slow bodies are cancelled in favour of
// new ones.
func TestHeldBodiesGiveWay(t *testing.T) {
	col, _ := newCollector(Options{Limits: Limits{InFlight: 256 << 10}})
	srv := httptest.NewServer(col)
	defer srv.Close()
	var held []net.Conn
	for i := range 16 { // all but the last byte of 16 KiB, which fills the pool
		conn, err := net.Dial("tcp", srv.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, "POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Length: 16384\r\n\r\n")
		if _, err := conn.Write(bytes.Repeat([]byte(" "), 16<<10-1)); err != nil {
			t.Fatal(err)
		}
		held = append(held, conn)
		// Sequentially, so that the first is the oldest.
		for end := time.Now().Add(10 * time.Second); col.inFlight.bytes() < int64(i+
			1)*16<<10; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%d bytes are held", col.inFlight.bytes())
			}
		}
	}
	time.Sleep(longArriving)
	for i := range 8 {
		res, err := http.Post(srv.URL+"/v1/traces", "application/json", strings.NewReader(traceJSON("f", "")))
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusAccepted {
			t.Errorf("request %d in parallel with slow bodies: %s", i, res.Status)
		}
	}
	_ = held[0].SetReadDeadline(time.Now().Add(10 * time.Second))
	answer := make([]byte, 1000)
	n, err := held[0].Read(answer)
	if !strings.HasPrefix(string(answer[:n]), "HTTP/1.1 503") || !strings.Contains(string(answer[:n]),
		"it came too slowly while") {
		t.Errorf("the oldest got %q, %v", answer[:n], err)
	}
}

// TestPool checks under random use that the pool counts exactly the bytes held, never exceeds its
// size, and cancels no body in favour of a network that holds more.
func TestPool(t *testing.T) {
	for seed := range uint64(50) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 13))
			p := newPool(1000)
			var all []*memory
			for range 500 {
				time.Sleep(time.Duration(r.IntN(300)) * time.Millisecond)
				switch i := r.IntN(len(all) + 4); {
				case i >= len(all):
					m := &memory{of: p}
					if n := r.IntN(4); n > 0 {
						m.from = network(n)
					}
					m.arrive(func() {})
					all = append(all, m)
				case r.IntN(3) == 0:
					all[i].release()
					all = append(all[:i], all[i+1:]...)
				case r.IntN(5) == 0:
					if err := all[i].arrived(); (err != nil) != all[i].lost {
						t.Fatalf("seed %d: a body was received: %v", seed, err)
					}
				default:
					takeOf(t, p, all, all[i], int64(1+r.IntN(300)))
				}
				checkPool(t, p, all)
			}
			for _, m := range all {
				m.release()
			}
			if p.held != 0 || len(p.networks) != 0 || p.arriving.Len() != 0 {
				t.Fatalf("seed %d: %d bytes, %d networks, %d bodies are left", seed, p.held, len(p.networks),
					p.arriving.Len())
			}
		})
	}
}

// takeOf reserves n more bytes for m, and checks which body was cancelled for it.
func takeOf(t *testing.T, p *pool, all []*memory, m *memory, n int64) {
	t.Helper()
	before := map[*memory]int64{}
	networks := map[netip.Prefix]int64{}
	for _, x := range all {
		if !x.lost {
			before[x] = x.held
			networks[x.from] += x.held
		}
	}
	if err := m.take(n); m.lost != errors.Is(err, errGivenUp) {
		t.Fatalf("got %v", err)
	}
	for _, x := range all {
		if _, had := before[x]; had && x.lost && time.Since(x.began) < longArriving &&
			networks[x.from] <= networks[m.from] {
			t.Fatalf("a body of %v, which held %d, is cancelled for one of %v, which held %d", x.from, networks[x.from],
				m.from, networks[m.from])
		}
	}
}

func checkPool(t *testing.T, p *pool, all []*memory) {
	t.Helper()
	held := int64(0)
	for _, m := range all {
		held += m.held
		if m.lost && m.held != 0 {
			t.Fatalf("a cancelled body holds %d bytes", m.held)
		}
	}
	if held != p.held || p.held > p.most {
		t.Fatalf("%d bytes are held, %d counted, the limit is %d", held, p.held, p.most)
	}
}

// TestReadAll compares readAll with the standard library, with buffers reused by other readers, and
// checks that it reserves at most twice the length.
func TestReadAll(t *testing.T) {
	p := newPool(1 << 30)
	r := rand.New(rand.NewPCG(4, 13))
	type kept struct{ got, want []byte }
	var all []kept
	for range 3000 {
		n, most := r.IntN(40<<10), int64(r.IntN(40<<10))
		switch r.IntN(4) {
		case 0:
			most = int64(n + r.IntN(3) - 1)
		case 1:
			n = smallestBuffer<<r.IntN(4) + r.IntN(3) - 1
		}
		want := make([]byte, n)
		for i := range want {
			want[i] = byte(r.IntN(256))
		}
		var in io.Reader = bytes.NewReader(want)
		switch r.IntN(4) {
		case 0:
			in = iotest.HalfReader(in)
		case 1:
			in = iotest.DataErrReader(in)
		case 2:
			in = iotest.OneByteReader(in)
		}
		broken := r.IntN(8) == 0
		if broken {
			in = io.MultiReader(in, iotest.ErrReader(io.ErrUnexpectedEOF))
		}
		m := &memory{of: p}
		got, err := m.readAll(in, most)
		switch {
		case int64(n) > most:
			if !errors.Is(err, errTooLong) {
				t.Fatalf("%d bytes where %d are the most: %v", n, most, err)
			}
		case broken:
			if !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("a reader that fails: %v", err)
			}
		case err != nil || !bytes.Equal(got, want):
			t.Fatalf("%d bytes of %d, most %d: %v", len(got), n, most, err)
		}
		if m.held > max(2*int64(n), smallestBuffer) {
			t.Fatalf("%d bytes are reserved for %d", m.held, n)
		}
		m.release()
		if err == nil {
			all = append(all, kept{got, want})
		}
	}
	for _, x := range all {
		if !bytes.Equal(x.got, x.want) {
			t.Fatal("a buffer that is in use was overwritten")
		}
	}
	if p.bytes() != 0 {
		t.Errorf("%d bytes are reserved after the end", p.bytes())
	}
}
