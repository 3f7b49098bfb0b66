package loadgen

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/collect"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/api"
	"github.com/fieldtrie/fieldtrie/test/storetest"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

var readTraces = sync.OnceValues(func() ([]*trie.Trace, error) { return ReadTraces("../../testdata/traces") })

func realTraces(t testing.TB) []*trie.Trace {
	t.Helper()
	traces, err := readTraces()
	if err != nil {
		t.Fatal(err)
	}
	return traces
}

// daemon receives traces and answers queries in this process.
type daemon struct {
	public, private string
	store           *storetest.Store
}

// startDaemon starts a daemon. wrap may change the handler of traces.
func startDaemon(t testing.TB, wrap func(http.Handler) http.Handler) daemon {
	t.Helper()
	return startDaemonOf(t, storetest.Options{}, wrap)
}

// startDaemonOf starts a daemon whose store is opened with o.
func startDaemonOf(t testing.TB, o storetest.Options, wrap func(http.Handler) http.Handler) daemon {
	t.Helper()
	s := storetest.Open(t, o)
	var receiver http.Handler = collect.New(collect.Options{Store: s})
	if wrap != nil {
		receiver = wrap(receiver)
	}
	public := httptest.NewServer(receiver)
	private := httptest.NewServer(api.Handler(query.Local{Reader: s}, api.Options{}))
	t.Cleanup(func() { public.Close(); private.Close() })
	return daemon{public.Listener.Addr().String(), private.Listener.Addr().String(), s}
}

// sent is the number of traces that run sends.
const sent = 160

// run sends traces with the options o.
func run(t *testing.T, d daemon, o Options) *Generator {
	t.Helper()
	o.Addrs, o.Traces, o.Count, o.Rate, o.Connections, o.Pages, o.Variants = []string{d.public}, realTraces(t)[:4],
		sent, 4000, 16, 4, 4
	g, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	g.backoff = 10 * time.Millisecond
	g.Run(t.Context())
	return g
}

func verify(t *testing.T, g *Generator, s Scope) Verdict {
	t.Helper()
	v, err := g.Verify(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestVerify(t *testing.T) {
	for _, o := range []Options{
		{Repeat: 0.1},
		{Repeat: 0.1, JSON: true},
		{Repeat: 0.3, Batch: 7},
		{Repeat: 0.1, Site: true},
		{Repeat: 0.3, Site: true, Batch: 3, JSON: true},
	} {
		t.Run(fmt.Sprintf("json %v, batches of %d, site %v", o.JSON, o.Batch, o.Site), func(t *testing.T) {
			t.Parallel()
			d := startDaemon(t, nil)
			g := run(t, d, o)
			c := g.Counts()
			v := verify(t, g, Scope{QueryAddrs: []string{d.private}})
			if v.Count > 0 || v.Unclear > 0 {
				t.Errorf("%d differences, %d unclear: %s", v.Count, v.Unclear, strings.Join(v.Differences, "\n"))
			}
			stored := v.Traces
			if o.Site { // a trace counts on each of its pages
				stored, _ = g.Stored()
			}
			if c.Acknowledged < sent || c.Acknowledged < stored+5 || v.Traces < stored {
				t.Errorf("%+v; %d verified", c, v.Traces)
			}
			chunks := 0
			for _, views := range g.ledger.tallies() {
				for x := range views {
					chunks = max(chunks, members(x.acked))
				}
			}
			if v.Pages < 3 || chunks < 2 {
				t.Errorf("%d pages, at most %d chunks of a view", v.Pages, chunks)
			}
		})
	}
}

// TestVerifyFolded sends more sets of labels than rollups keep apart. Responses about devices then
// lack views and report how many, which is not a difference. Lacking more views than reported is
// one.
func TestVerifyFolded(t *testing.T) {
	// It is random which views arrive after the limit is reached, so only some attempts have a view
	// of the queried device among them.
	for range 5 {
		d := startDaemonOf(t, storetest.Options{Rollups: rollup.Limits{Cells: 80}}, nil)
		g := run(t, d, Options{Site: true})
		v := verify(t, g, Scope{QueryAddrs: []string{d.private}})
		if v.Count > 0 || v.Folded == 0 {
			t.Fatalf("%d differences, %d folded: %s", v.Count, v.Folded, strings.Join(v.Differences, "\n"))
		}
		if v := verify(t, g, Scope{QueryAddrs: []string{understating(t, d)}}); v.Count > 0 {
			return
		}
	}
	t.Error("views are missing in responses, but no difference is reported")
}

// understating returns the address of a proxy for d that reports one missing view in responses
// where more are missing.
func understating(t *testing.T, d daemon) string {
	t.Helper()
	q := api.Handler(query.Local{Reader: d.store}, api.Options{})
	folded := regexp.MustCompile(`"folded_views":\d+`)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		q.ServeHTTP(rec, r)
		maps.Copy(w.Header(), rec.Header())
		stats := w.Header().Get("Fieldtrie-Stats")
		w.Header().Set("Fieldtrie-Stats", folded.ReplaceAllString(stats, `"folded_views":1`))
		w.WriteHeader(rec.Code)
		_, _ = rec.Body.WriteTo(w)
	}))
	t.Cleanup(srv.Close)
	return srv.Listener.Addr().String()
}

// TestVerifyFinds makes a daemon misbehave, and expects differences.
func TestVerifyFinds(t *testing.T) {
	accept := func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprint(w, `{"accepted":1,"duplicates":0,"ids":["x"]}`)
	}
	for name, wrong := range map[string]func(http.Handler, http.ResponseWriter, *http.Request){
		"a trace is lost": func(_ http.Handler, w http.ResponseWriter, _ *http.Request) { accept(w) },
		"a trace is refused but stored": func(next http.Handler, w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(httptest.NewRecorder(), r)
			w.WriteHeader(http.StatusTooManyRequests)
		},
		"an answer is not JSON": func(next http.Handler, w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(httptest.NewRecorder(), r)
			w.WriteHeader(http.StatusAccepted)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var requests atomic.Int64
			d := startDaemon(t, func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if requests.Add(1) == 50 {
						wrong(next, w, r)
						return
					}
					next.ServeHTTP(w, r)
				})
			})
			if v := verify(t, run(t, d, Options{}), Scope{QueryAddrs: []string{d.private}}); v.Count == 0 {
				t.Error("no difference is reported")
			}
		})
	}
}

// TestUnclear breaks connections after traces were stored: some traces are sent again, and all may
// be stored.
func TestUnclear(t *testing.T) {
	for _, retry := range []bool{false, true} {
		t.Run(fmt.Sprint("retry ", retry), func(t *testing.T) {
			t.Parallel()
			var requests atomic.Int64
			d := startDaemon(t, func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					switch n := requests.Add(1); {
					case n%20 == 0:
						next.ServeHTTP(httptest.NewRecorder(), r)
						panic(http.ErrAbortHandler)
					case n%20 == 1:
						w.Header().Set("Retry-After", "0")
						w.WriteHeader(http.StatusServiceUnavailable)
					default:
						next.ServeHTTP(w, r)
					}
				})
			})
			g := run(t, d, Options{Repeat: 0.05, Retry: retry})
			v := verify(t, g, Scope{QueryAddrs: []string{d.private}})
			if v.Count > 0 {
				t.Error(strings.Join(v.Differences, "\n"))
			}
			if c := g.Counts(); c.Broken < 4 || (v.Unclear > 0) == retry || (c.Retries > 0) != retry {
				t.Errorf("%d unclear, %+v", v.Unclear, c)
			}
		})
	}
}

func TestSince(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	run(t, d, Options{})
	since := time.Now()
	g := run(t, d, Options{})
	if v := verify(t, g, Scope{QueryAddrs: []string{d.private}, Since: since, Pages: 2}); v.Count > 0 || v.Pages != 2 {
		t.Errorf("%d pages: %s", v.Pages, strings.Join(v.Differences, "\n"))
	}
	if v := verify(t, g, Scope{QueryAddrs: []string{d.private}}); v.Count == 0 {
		t.Error("the traces of another run are not reported")
	}
}

// TestLatency sends to a daemon that pauses: the latency includes the pause for all requests that
// were due, not only for those in flight.
func TestLatency(t *testing.T) {
	t.Parallel()
	const pause = 300 * time.Millisecond
	var requests atomic.Int64
	d := startDaemon(t, func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if requests.Add(1) == 10 {
				time.Sleep(pause)
			}
			w.WriteHeader(http.StatusAccepted)
			fmt.Fprint(w, `{"accepted":1,"duplicates":0,"ids":["x"]}`)
		})
	})
	g, err := New(Options{Addrs: []string{d.public}, Traces: realTraces(t), Rate: 100, Count: 40, Connections: 1,
		Variants: 1})
	if err != nil {
		t.Fatal(err)
	}
	g.Run(t.Context())
	if p := g.Latency.Percentile(0.6); p < pause/10 || g.Latency.Count() != 40 {
		t.Errorf("of %d requests, the 60th percentile is %v", g.Latency.Count(), p)
	}
}

func TestUnsent(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(10 * time.Millisecond)
			w.WriteHeader(http.StatusBadRequest)
		})
	})
	g, err := New(Options{Addrs: []string{d.public}, Traces: realTraces(t), Rate: 1000, For: 300 * time.Millisecond,
		Connections: 1, Variants: 1})
	if err != nil {
		t.Fatal(err)
	}
	g.Run(t.Context())
	c := g.Counts()
	if n := c.Traces + c.Unsent; n != 300 || c.Unsent < 250 {
		t.Errorf("%d traces, %d of them not sent", n, c.Unsent)
	}
	if c.Refused[http.StatusBadRequest] != c.Traces || c.GivenUp != c.Traces {
		t.Errorf("%+v", c)
	}
}

func TestUnconnected(t *testing.T) {
	t.Parallel()
	g := run(t, daemon{public: "127.0.0.1:1"}, Options{}) // a free port could be taken by another test's server
	if c := g.Counts(); c.Unconnected != sent {
		t.Errorf("%+v", c)
	}
	if sure, more := g.Stored(); sure+more > 0 {
		t.Errorf("%d traces are stored, and possibly %d more", sure, more)
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{
		{Count: 1},
		{Traces: make([]*trie.Trace, 1)},
		{Traces: make([]*trie.Trace, 1), Count: 1, Zipf: 1},
		{Traces: make([]*trie.Trace, 1), Count: 1, Rate: -1},
		{Traces: make([]*trie.Trace, 1), Count: 1, Repeat: 2},
		{Traces: make([]*trie.Trace, 1), Count: 1, Pages: -1},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}

func TestPages(t *testing.T) {
	for rank, want := range map[int]string{0: "/page-a", 25: "/page-z", 26: "/page-aa", 701: "/page-zz",
		702: "/page-aaa"} {
		if got := PageName(rank); got != want {
			t.Errorf("page %d is %s, want %s", rank, got, want)
		}
	}
	for rank := range 20_000 {
		if page := PageName(rank); (collect.PageRules{}).Page(page) != page {
			t.Errorf("%s is stored as %s", page, (collect.PageRules{}).Page(page))
		}
	}
}

// TestSequence expects the same views for the same seed and others for another, but never the same
// ids.
func TestSequence(t *testing.T) {
	draw := func(seed uint64) (views []view, counts []int) {
		o := Options{Traces: realTraces(t)[:3], Count: 1, Pages: 50, Seed: seed, Repeat: 0.05}
		g, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		counts = make([]int, o.Pages)
		for range 5000 {
			for _, d := range g.sequence.next(time.Unix(1, 0), func(*view, int) {}).traces {
				v := *d.view
				counts[v.rank]++
				views = append(views, v)
			}
		}
		return views, counts
	}
	a, counts := draw(1)
	b, _ := draw(1)
	c, _ := draw(2)
	same := func(x, y view) bool { return x.rank == y.rank && x.variant == y.variant && x.page == y.page }
	if !slices.EqualFunc(a, b, same) || slices.EqualFunc(a, c, same) {
		t.Error("the seed does not determine the views")
	}
	if slices.EqualFunc(a, b, func(x, y view) bool { return x.stamp.view == y.stamp.view }) {
		t.Error("ids repeat")
	}
	if counts[0] < 800 || counts[0] < 3*counts[4] || counts[4] < 2*counts[30] || slices.Min(counts) == 0 {
		t.Errorf("not a Zipf distribution: %d", counts)
	}
}

func TestHistogram(t *testing.T) {
	var h Histogram
	if h.Percentile(0.5) != 0 || h.Max() != 0 {
		t.Error("an empty histogram has a percentile")
	}
	var all []time.Duration
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		d := time.Duration(rnd.ExpFloat64()*float64(20*time.Millisecond)) +
			time.Duration(rnd.IntN(200))*time.Microsecond
		h.Add(d)
		all = append(all, d.Truncate(time.Microsecond))
	}
	slices.Sort(all)
	for _, p := range []float64{0, 0.01, 0.5, 0.9, 0.99, 0.999, 1} {
		want := all[max(int(p*float64(len(all))+0.999999)-1, 0)]
		if got := h.Percentile(p); got < want || float64(got) > 1.04*float64(want)+1000 {
			t.Errorf("percentile %g is %v, want %v", p, got, want)
		}
	}
	if h.Max() != all[len(all)-1] || h.Count() != 20_000 {
		t.Errorf("the longest of %d is %v, want %v", h.Count(), h.Max(), all[len(all)-1])
	}
}

func TestBuckets(t *testing.T) {
	for us := uint64(0); us < 1<<63-1; us += us/7 + 1 {
		if b := bucketOf(us); lastOf(b) < us || b > 0 && lastOf(b-1) >= us {
			t.Fatalf("%d µs are in bucket %d, whose last is %d", us, b, lastOf(b))
		}
	}
}
