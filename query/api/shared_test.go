package api

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/test/fixture"
)

// TestSharedAnswers sends all queries several times concurrently. Callers share cached results and
// must not modify them: each response equals the response to the same query alone.
func TestSharedAnswers(t *testing.T) {
	f := fixture.New(t)
	shared := localOf(f)
	shared.Responses, shared.Steps = query.NewResponseCache(t.Context()), query.NewStepCache()
	now := func() time.Time { return fixture.Noon.Add(fixture.Later + time.Minute) }
	h := Handler(shared, Options{Now: now, Lag: time.Hour})
	var paths []string
	for _, selection := range []string{"page=/a&", "label=phase%3Dload&page=/b&", "page=/none&"} {
		for _, path := range []string{
			"labels?key=release", "labels?key=page", "labels?", "pages?", "pages?limit=1", "features?",
			"releases?limit=1", "coverage?",
			"series?step=1h", "series?step=1m", "series?step=1m&group_by=release", "series?step=all&histogram=1",
			"top?", "top?sort=total&limit=3", "top?sort=reach", "tree?", "tree?max_nodes=2",
			"tree?compare_release=r1&release=r0",
			"callers?name=render", "callees?name=main", "compare?release=r0&compare_release=r1",
		} {
			p, q, _ := strings.Cut(path, "?")
			paths = append(paths, "/api/v1/"+p+"?"+selection+q)
		}
		for _, format := range profileFormats() {
			paths = append(paths, "/api/v1/profile?"+selection+"format="+format, "/api/v1/profile?"+selection+
				"group_by=page,release&format="+format)
		}
		paths = append(paths, "/pprof/profile?"+selection)
	}
	stats := regexp.MustCompile(`,"stats":{.*?}`)
	ask := func(path, header string) string {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set("Cache-Control", header)
		h.ServeHTTP(w, r)
		return fmt.Sprint(w.Code, stats.ReplaceAllString(w.Body.String(), "")) // stats depend on what was cached
	}
	want := map[string]string{}
	answered := 0
	for _, path := range paths {
		want[path] = ask(path, "no-cache")
		if strings.HasPrefix(want[path], "200") {
			answered++
		}
	}
	if answered < len(paths)/2 {
		t.Fatalf("%d of %d queries succeeded", answered, len(paths))
	}
	var all sync.WaitGroup
	for n := range uint64(3) {
		all.Go(func() {
			r := rand.New(rand.NewPCG(n, 1))
			for _, i := range r.Perm(len(paths)) {
				if got := ask(paths[i], ""); got != want[paths[i]] {
					t.Errorf("%s:\ngot  %.600s\nwant %.600s", paths[i], got, want[paths[i]])
				}
			}
		})
	}
	all.Wait()
}
