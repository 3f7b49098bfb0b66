package collect

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/rules/feature"
	"github.com/fieldtrie/fieldtrie/rules/site"
	"github.com/fieldtrie/fieldtrie/store"
)

// twoSites returns options with two sites, each with a key, and a key without a site.
func twoSites() Options {
	return Options{Sites: []site.Site{{Name: "shop"}, {Name: "blog"}},
		Keys: []Key{{Value: "s", Site: "shop"}, {Value: "b", Site: "blog"}, {Value: "n"}}}
}

// postTo sends a body to a path.
func postTo(h http.Handler, path, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, strings.NewReader(body)))
	return w
}

// TestSitePages checks that pages of a trace belong to its site, and that a site cannot name
// another site's pages.
func TestSitePages(t *testing.T) {
	o := twoSites()
	var err error
	if o.Pages, err = ParsePageRules(strings.NewReader("/user/:name\n")); err != nil {
		t.Fatal(err)
	}
	if o.Sampling, err = ParseSamplingRules(strings.NewReader("/user/:name 0.25\n")); err != nil {
		t.Fatal(err)
	}
	if o.Features, err = feature.NewRules([]feature.Rule{{Name: "users", Page: "/user/**"},
		{Name: "blogs", Page: "blog:/**"}}); err != nil {
		t.Fatal(err)
	}
	c, s := newCollector(o)
	for i, x := range []struct{ key, page, want, features string }{
		{"s", "/user/ann", "shop:/user/:name", "[users]"}, {"b", "/user/ann", "blog:/user/:name", "[blogs users]"},
		{"n", "/user/ann", "/user/:name", "[users]"},
		{"s", "blog:/user/ann", "shop:/blog:/user/ann", "[]"}, {"s", "", "shop:(unknown)", "[]"},
		{"s", "(other)", "shop:(other)", "[]"},
	} {
		body := fmt.Sprintf(`{"page":%q,"viewId":"%032d","interval":10,"trace":{"resources":[],`+
			`"frames":[{"name":"f"}],"stacks":[{"frameId":0}],"samples":[{"timestamp":0,"stackId":0}]}}`, x.page, i)
		w := postTo(c, "/v1/traces?key="+x.key, body)
		if w.Code != http.StatusAccepted {
			t.Fatalf("%s: %d %s", x.page, w.Code, w.Body)
		}
		if wantRate := strings.Contains(x.want, "/user/:name"); strings.Contains(w.Body.String(),
			`"rate":0.25`) != wantRate {
			t.Errorf("%s: the answer is %s", x.want, w.Body)
		}
		var got []store.Record
		for _, r := range s.records {
			if slices.Contains(r.Pages, x.want) {
				got = append(got, r)
			}
		}
		if len(got) != 1 {
			t.Errorf("%s with key %s: %d records of %s among %v", x.page, x.key, len(got), x.want, s.records)
			continue
		}
		tr := traceOf(t, got[0])
		if features := fmt.Sprint(tr.Features(x.want)); tr.Context.Page != x.want || features != x.features {
			t.Errorf("%s: the trace is of %s, features %s", x.want, tr.Context.Page, features)
		}
	}
	if w := postTo(c, "/v1/views?key=b",
		`{"page":"/user/ann","outcome":"unsampled"}`); w.Code != http.StatusNoContent ||
		s.counted["blog:/user/:name unsampled"] != 1 {
		t.Errorf("%d, counted %v", w.Code, s.counted)
	}
}

// TestLoudSite blocks the store. One site sends more traces than may wait for the store, but traces
// of the other site are still accepted.
func TestLoudSite(t *testing.T) {
	o := twoSites()
	c, _ := newCollector(o)
	still := &stillStore{waiting: map[string]int{}, goOn: make(chan struct{})}
	c.opts.Store = still
	var number sync.Mutex
	n := 0
	send := func(key string) int {
		var all []string
		number.Lock()
		for range 100 {
			n++
			all = append(all, fmt.Sprintf(
				`{"page":"/feed","viewId":"%032d","interval":10,"trace":{"resources":[],"frames":[{"name":"f"}],`+
					`"stacks":[{"frameId":0}],"samples":[{"timestamp":0,"stackId":0}]}}`, n))
		}
		number.Unlock()
		return postTo(c, "/v1/traces?key="+key, "["+strings.Join(all, ",")+"]").Code
	}
	codes := make(chan int, 1000)
	var clients sync.WaitGroup
	for range 2 * storeQueue / 100 {
		clients.Go(func() { codes <- send("s") })
	}
	// Requests over the share are rejected while the others wait.
	refused := 0
	for still.count("shop:/feed")+100 <= c.sites.share || refused == 0 {
		select {
		case code := <-codes:
			if code != http.StatusServiceUnavailable {
				t.Fatalf("a blocked store stored traces: %d", code)
			}
			refused++
		case <-time.After(time.Millisecond):
		}
	}
	quiet := make(chan int)
	go func() { quiet <- send("b") }()
	for still.count("blog:/feed") < 100 {
		select {
		case code := <-quiet:
			t.Fatalf("the quiet site got %d", code)
		case <-time.After(time.Millisecond):
		}
	}
	close(still.goOn)
	if code := <-quiet; code != http.StatusAccepted {
		t.Errorf("the quiet site got %d", code)
	}
	clients.Wait()
	if code := send("s"); code != http.StatusAccepted {
		t.Errorf("the loud site got %d after the store continued", code)
	}
}

// stillStore blocks until it is released. Like a store, it has a bounded queue and rejects further
// traces.
type stillStore struct {
	fakeStore
	goOn chan struct{}

	lock    sync.Mutex
	all     int
	waiting map[string]int
}

func (s *stillStore) count(page string) int {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.waiting[page]
}

func (s *stillStore) Append(_ context.Context, recs []store.Record) (store.AppendResult, error) {
	s.lock.Lock()
	if s.all+len(recs) > storeQueue {
		s.lock.Unlock()
		return store.AppendResult{}, store.ErrBusy
	}
	s.all += len(recs)
	s.waiting[recs[0].Pages[0]] += len(recs)
	s.lock.Unlock()
	<-s.goOn
	s.lock.Lock()
	defer s.lock.Unlock()
	s.all -= len(recs)
	return store.AppendResult{Stored: len(recs)}, nil
}

// TestSiteDisk fills the disk quota of a site, until its oldest traces expire.
func TestSiteDisk(t *testing.T) {
	now := noon
	o := twoSites()
	o.Now = func() time.Time { return now }
	o.Sites[0].Disk, o.Keep = 500, 24*time.Hour
	hour := noon.Unix() / 3600
	o.SiteBytes = map[string]map[int64]int64{"shop": {hour - 1: 300, hour - 30: 1000}}
	c, _ := newCollector(o)
	n := 0
	send := func(key string) int {
		n++
		return postTo(c, "/v1/traces?key="+key,
			fmt.Sprintf(`{"page":"/feed","viewId":"%032d","interval":10,"trace":{"resources":[],`+
				`"frames":[{"name":"f"}],"stacks":[{"frameId":0}],"samples":[{"timestamp":0,"stackId":0}]}}`, n)).Code
	}
	taken := 0
	for send("s") == http.StatusAccepted {
		if taken++; taken > 100 {
			t.Fatal("the quota was never reached")
		}
	}
	if taken == 0 {
		t.Error("expired traces count")
	}
	if code := send("b"); code != http.StatusAccepted {
		t.Errorf("another site: %d", code)
	}
	stored := c.SiteBytes()
	if sum := stored["shop"][hour]; sum < 200 || sum > 400 || len(stored["shop"]) != 2 || stored["blog"][hour] == 0 {
		t.Errorf("stored %v", stored)
	}
	now = now.Add(25 * time.Hour)
	if code := send("s"); code != http.StatusAccepted {
		t.Errorf("a day later: %d", code)
	}
}
