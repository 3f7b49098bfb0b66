package collect

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/fieldtrie/fieldtrie/store"
)

// TestEncodings sends one trace and several, in each content type and encoding.
func TestEncodings(t *testing.T) {
	one, two := traceJSON("one", `"viewId":"1",`), traceJSON("two", `"viewId":"2",`)
	oneBinary, twoBinary := traceBinary(t, "one", `"viewId":"1",`), traceBinary(t, "two", `"viewId":"2",`)
	bodies := []struct {
		name, text string
		traces     int
		binary     bool
	}{
		{"object", one, 1, false},
		{"object over several lines", strings.ReplaceAll(one, ",", ",\n"), 1, false},
		{"lines", one + "\n" + two + "\n", 2, false},
		{"no separator", one + two, 2, false},
		{"array", "[" + one + " ,\n" + two + "]", 2, false},
		{"document", oneBinary, 1, true},
		{"one delimited", delimited(oneBinary), 1, true},
		{"two delimited", delimited(oneBinary, twoBinary), 2, true},
	}
	for _, media := range []string{"", "text/plain", "text/plain;charset=UTF-8", "application/json",
		"application/json; charset=utf-8",
		"application/x-ndjson", "application/x-protobuf", "application/octet-stream", "Application/X-Protobuf"} {
		for _, encoding := range []string{"", "identity", "gzip", "x-gzip", "GZIP", "deflate", "raw", "zstd"} {
			for _, body := range bodies {
				isJSON := strings.Contains(media, "json")
				isBinary := media != "" && !isJSON && !strings.HasPrefix(media, "text")
				if body.binary && isJSON || !body.binary && isBinary {
					continue // refused, see TestRefusals
				}
				col, s := newCollector(Options{})
				header, how := encoding, strings.ToLower(strings.TrimPrefix(encoding, "x-"))
				switch encoding {
				case "raw":
					header = "deflate"
				case "identity":
					how = ""
				}
				headers := []string{"Content-Type", media, "Content-Encoding", header}
				if media == "" {
					headers = headers[2:]
				}
				got := post(t, col, compress(t, how, body.text), headers...)
				if got.status != 202 || got.Accepted != body.traces || len(s.records) != body.traces {
					t.Errorf("%s as %q in %q: got %d %+v", body.name, media, encoding, got.status, got.answer)
				}
				for _, r := range s.records {
					if name := traceOf(t, r).Frame(1).Name; name != "one" && name != "two" {
						t.Errorf("%s as %q in %q: stored %q", body.name, media, encoding, name)
					}
				}
			}
		}
	}
}

// bombs are bodies that are small as sent and large when decompressed.
func bombs(t testing.TB) map[string][2]string { // by name: encoding and body
	const size = 4 << 20
	zeros := strings.Repeat("\x00", size)
	members := strings.Repeat(compress(t, "gzip", strings.Repeat(" ", 64<<10)), 64)
	// A zstd frame that announces a window of 2 GiB, and one that announces a length of 1 TiB.
	// Neither contains the data.
	const magic = "\x28\xb5\x2f\xfd"
	window := magic + "\x00" + string([]byte{21 << 3}) + "\x01\x00\x00"
	size64 := magic + "\xc0" + "\x00" + string(binary.LittleEndian.AppendUint64(nil, 1<<40)) + "\x01\x00\x00"
	single := magic + "\xe0" + string(binary.LittleEndian.AppendUint64(nil, 1<<40)) + "\x01\x00\x00"
	var manyFrames bytes.Buffer
	for range 64 {
		manyFrames.WriteString(compress(t, "zstd", strings.Repeat(" ", 64<<10)))
	}
	var large bytes.Buffer // all of one window
	w, err := zstd.NewWriter(&large, zstd.WithWindowSize(8<<20))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(w, zeros)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return map[string][2]string{
		"gzip":            {"gzip", compress(t, "gzip", zeros)},
		"gzip of gzip":    {"gzip", compress(t, "gzip", compress(t, "gzip", zeros)+zeros)},
		"gzip members":    {"gzip", members},
		"deflate":         {"deflate", compress(t, "deflate", zeros)},
		"raw deflate":     {"deflate", compress(t, "raw", zeros)},
		"zstd":            {"zstd", compress(t, "zstd", zeros)},
		"zstd window":     {"zstd", window},
		"zstd big window": {"zstd", large.String()},
		"zstd size":       {"zstd", size64},
		"zstd segment":    {"zstd", single},
		"zstd frames":     {"zstd", manyFrames.String()},
	}
}

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestBombs(t *testing.T) {
	const inflated = 512 << 10
	for name, bomb := range bombs(t) {
		t.Run(name, func(t *testing.T) {
			col, s := newCollector(Options{Limits: Limits{Inflated: inflated, Ratio: 1 << 20}})
			var got reply
			bytes := allocated(func() { got = post(t, col, bomb[1], "Content-Encoding", bomb[0]) })
			if got.status != 413 && !(got.status == 400 && strings.HasPrefix(name, "zstd s")) {
				t.Errorf("got %d %q, want 413", got.status, got.Error)
			}
			if s.appends > 0 {
				t.Error("the store was called")
			}
			// The buffer doubles up to its limit, and a decoder needs a window.
			if most := uint64(8*inflated + 4*len(bomb[1])); bytes > most {
				t.Errorf("%d bytes allocated for %d sent, want less than %d", bytes, len(bomb[1]), most)
			}
			if n := col.inFlight.bytes(); n != 0 {
				t.Errorf("%d bytes are still in flight", n)
			}
		})
	}
}

// TestRatio checks that a few bytes cannot expand to many, even below the absolute limit.
func TestRatio(t *testing.T) {
	col, _ := newCollector(Options{})
	for _, c := range []struct {
		spaces int
		status int
	}{{60 << 10, 202}, {1 << 20, 413}} {
		got := post(t, col, compress(t, "gzip", strings.Repeat(" ", c.spaces)+traceJSON("f", "")),
			"Content-Encoding", "gzip")
		if got.status != c.status {
			t.Errorf("%d spaces: got %d %q, want %d", c.spaces, got.status, got.Error, c.status)
		}
	}
}

// endless is a body without an end.
type endless struct{ read int64 }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	e.read += int64(len(p))
	return len(p), nil
}

func TestEndless(t *testing.T) {
	col, _ := newCollector(Options{})
	for _, length := range []int64{-1, 100} { // unknown, and wrong
		body := &endless{}
		r := httptest.NewRequest(http.MethodPost, "/v1/traces", body)
		r.ContentLength = length
		var got reply
		bytes := allocated(func() { got = send(t, col, r) })
		if got.status != 413 || !strings.Contains(got.Error, "over 262144 bytes") {
			t.Errorf("length %d: got %d %q", length, got.status, got.Error)
		}
		if body.read > 512<<10 || bytes > 2<<20 {
			t.Errorf("length %d: %d bytes read, %d allocated", length, body.read, bytes)
		}
	}
	// A body with too large a Content-Length is not read at all.
	body := &endless{}
	r := httptest.NewRequest(http.MethodPost, "/v1/traces", body)
	r.ContentLength = 256<<10 + 1
	if got := send(t, col, r); got.status != 413 || body.read > 0 {
		t.Errorf("got %d after %d bytes", got.status, body.read)
	}
}

// talk sends text to a server of col and returns the response.
func talk(t *testing.T, addr, text string, halfClose bool) string {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	if halfClose {
		_ = conn.(*net.TCPConn).CloseWrite()
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, _ := io.ReadAll(res.Body)
	return fmt.Sprintf("%d %s", res.StatusCode, body)
}

// TestWire sends malformed requests to a real server.
func TestWire(t *testing.T) {
	col, s := newCollector(Options{Limits: Limits{Read: 200 * time.Millisecond}})
	srv := httptest.NewServer(col)
	defer srv.Close()
	addr := srv.Listener.Addr().String()
	const head = "POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
	for _, c := range []struct {
		name, text string
		halfClose  bool
		want       string
	}{
		{"slow", head + "Content-Length: 100\r\n\r\n{", false, "408 "},
		{"slow chunks", head + "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", false, "408 "},
		{"shorter than Content-Length", head + "Content-Length: 100\r\n\r\n{", true, "400 "},
		{"truncated chunk", head + "Transfer-Encoding: chunked\r\n\r\n100\r\n{", true, "400 "},
		{"not a chunk", head + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", true, "400 "},
		{"endless chunks", head + "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat("1000\r\n"+strings.Repeat(" ",
			0x1000)+"\r\n", 65), false, "413 "},
		{"longer than allowed", head + "Content-Length: 262145\r\n\r\n", false, "413 "},
	} {
		if got := talk(t, addr, c.text, c.halfClose); !strings.HasPrefix(got, c.want) ||
			!strings.Contains(got, `"error":"body: `) {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
	if s.appends > 0 {
		t.Error("the store was called")
	}
	// The deadline is only for the body: it affects neither a slow store nor the next request on
	// the same connection.
	s.fail = func([]store.Record) error { time.Sleep(300 * time.Millisecond); return nil }
	var reused []bool
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) {
		reused = append(reused, c.Reused)
	}})
	for range 2 {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, srv.URL+"/v1/traces",
			strings.NewReader(traceJSON("f", "")))
		if err != nil {
			t.Fatal(err)
		}
		res, err := srv.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		if res.StatusCode != 202 {
			t.Errorf("got %s", res.Status)
		}
		time.Sleep(50 * time.Millisecond)
	}
	if !slices.Equal(reused, []bool{false, true}) {
		t.Errorf("connections reused: %v", reused)
	}
}

// TestInFlight keeps bodies open: the memory that they hold is bounded, and announced lengths do
// not block other clients.
func TestInFlight(t *testing.T) {
	const limit = 40 << 10
	col, _ := newCollector(Options{Limits: Limits{InFlight: limit}})
	hold := func(n int, size int64) (release func()) {
		var done sync.WaitGroup
		var pipes []*io.PipeWriter
		for range n {
			r, w := io.Pipe()
			pipes = append(pipes, w)
			req := httptest.NewRequest(http.MethodPost, "/v1/traces", r)
			req.ContentLength = 200 << 10
			done.Go(func() {
				col.ServeHTTP(httptest.NewRecorder(), req)
				_ = r.Close() // the server does not wait for a refused body
			})
			if _, err := w.Write(bytes.Repeat([]byte(" "), int(size))); err != nil {
				t.Error(err)
			}
		}
		return func() {
			for _, w := range pipes {
				_ = w.Close()
			}
			done.Wait()
		}
	}
	release := hold(4, 10)
	if got := post(t, col, traceJSON("f", "")); got.status != 202 {
		t.Errorf("in parallel with four slow clients: got %d %q", got.status, got.Error)
	}
	release()
	release = hold(2, 8<<10+1)
	release2 := hold(2, 10)
	got := post(t, col, traceJSON("f", ""))
	if got.status != 503 || !strings.Contains(got.Error, "too many requests at work") ||
		got.header.Get("Retry-After") == "" {
		t.Errorf("in parallel with four clients that hold all memory: got %d %q", got.status, got.Error)
	}
	release()
	release2()
	if n := col.inFlight.bytes(); n != 0 {
		t.Errorf("%d bytes are still in flight", n)
	}
}

// TestInFlightMany sends many bodies concurrently: together they never exceed the limit, and bodies
// that fit are accepted.
func TestInFlightMany(t *testing.T) {
	const limit = 40 << 10
	col, _ := newCollector(Options{Limits: Limits{InFlight: limit}})
	var most, served int64
	var mu sync.Mutex
	stop := make(chan struct{})
	var watch, clients sync.WaitGroup
	watch.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				mu.Lock()
				most = max(most, col.inFlight.bytes())
				mu.Unlock()
				runtime.Gosched()
			}
		}
	})
	body := compress(t, "gzip", strings.Repeat(" ", 12<<10)+traceJSON("f", ""))
	for range 8 {
		clients.Go(func() {
			for range 25 {
				switch got := post(t, col, body, "Content-Encoding", "gzip"); got.status {
				case 202:
					mu.Lock()
					served++
					mu.Unlock()
				case 503:
				default:
					t.Errorf("got %d %q", got.status, got.Error)
				}
			}
		})
	}
	clients.Wait()
	close(stop)
	watch.Wait()
	// A request that finds no room reserves memory briefly before it returns it.
	if served == 0 || most > limit+8*(16<<10) {
		t.Errorf("%d served, at most %d bytes in flight", served, most)
	}
	if n := col.inFlight.bytes(); n != 0 {
		t.Errorf("%d bytes are still in flight", n)
	}
}
