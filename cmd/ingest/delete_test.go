package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store/shared/deletion"
	"github.com/fieldtrie/fieldtrie/test/programs"
)

// TestDeletionKilled kills a daemon again and again while it deletes one of three pages: in the end
// only that page is gone, and each of its traces is counted once.
func TestDeletionKilled(t *testing.T) {
	t.Parallel()
	bin, dir := programs.Path(t, "ingest"), t.TempDir()
	const traces = 300
	d := launch(t, bin, dir)
	for n := range traces {
		d.wantAccepted(n)
	}
	res, err := patient.Post(d.private+"/v1/deletions", "application/json", strings.NewReader(`{"page":"/crash/b"}`))
	if got := answerOf(res, err); got.status != http.StatusOK {
		t.Fatalf("got %+v, want a deletion", got)
	}
	rnd := rand.New(rand.NewPCG(33, 1))
	var list struct{ Deletions []deletion.Request }
	done := func() bool {
		list.Deletions = nil
		return json.Unmarshal([]byte(d.get("/v1/deletions")), &list) == nil && len(list.Deletions) == 1 &&
			!list.Deletions[0].Done.IsZero()
	}
	kills := 0
	for range 12 {
		time.Sleep(time.Duration(rnd.IntN(80)) * time.Millisecond)
		if kills > 2 && done() {
			break
		}
		_ = d.stop(syscall.SIGKILL) // the error is that it was killed
		kills++
		d = launch(t, bin, dir)
	}
	until(t, "the deletion is done", done)
	if got := list.Deletions[0].Counts; got.Traces != traces/3 || got.Parts+got.Left != 0 {
		t.Errorf("after %d kills: deleted %+v, want %d traces", kills, got, traces/3)
	}
	for n, page := range []string{"/crash/a", "/crash/b", "/crash/c"} {
		var top struct{ Traces int }
		want := traces / 3
		if n == 1 {
			want = 0
		}
		text := d.get("/api/v1/top?page=" + page)
		if err := json.Unmarshal([]byte(text), &top); err != nil || top.Traces != want {
			t.Errorf("after %d kills, %s: got %d traces, want %d: %v", kills, page, top.Traces, want, err)
		}
	}
	d.end()
	for view, n := range viewsIn(t, dir) {
		var number int
		if _, err := fmt.Sscanf(view, "%x", &number); err != nil || n != 1 || (number-1)%3 == 1 {
			t.Errorf("view %s is stored %d times", view, n)
		}
	}
}
