package api

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/fieldtrie/fieldtrie/query/memory"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/test/fixture"
)

// blocked is a client that reads nothing until read is closed.
type blocked struct {
	*httptest.ResponseRecorder
	began, read chan struct{}
}

func (b *blocked) Write(p []byte) (int, error) {
	select {
	case <-b.began:
	default:
		close(b.began)
	}
	<-b.read
	return b.ResponseRecorder.Write(p)
}

// A profile counts towards the memory of all queries until a slow client has read it.
func TestHeldUntilWritten(t *testing.T) {
	f := fixture.New(t)
	l := localOf(f)
	const path = "/api/v1/profile?group_by=page,release&format=pprof"
	all, err := l.Profile(t.Context(), selection.Selection{GroupBy: []string{"page", "release"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	l.Memory = memory.NewBound(5 * all.Profile.Size())
	h := Handler(l, Options{Memory: l.Memory})
	slow := &blocked{httptest.NewRecorder(), make(chan struct{}), make(chan struct{})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.ServeHTTP(slow, httptest.NewRequest(http.MethodGet, path, nil))
	}()
	<-slow.began
	if used := l.Memory.Used(); used < int64(all.Profile.Size()) {
		t.Errorf("a profile of %[2]d bytes holds %[1]d bytes while it is written", used, all.Profile.Size())
	}
	close(slow.read)
	<-done
	if used := l.Memory.Used(); used != 0 || slow.Code != http.StatusOK {
		t.Errorf("%d bytes are still held after a response with status %d", used, slow.Code)
	}
	l.Memory = memory.NewBound(all.Profile.Size()) // not enough to write it
	w := httptest.NewRecorder()
	Handler(l, Options{Memory: l.Memory}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	if used := l.Memory.Used(); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" ||
		used != 0 {
		t.Errorf("without enough memory: %d %s, %d bytes are held", w.Code, w.Body, used)
	}
}
