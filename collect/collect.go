package collect

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fieldtrie/fieldtrie/collect/quota"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/internal/fair"
	"github.com/fieldtrie/fieldtrie/internal/requests"
	"github.com/fieldtrie/fieldtrie/rules/feature"
	"github.com/fieldtrie/fieldtrie/rules/site"
	"github.com/fieldtrie/fieldtrie/store"
)

// Options say how traces are received. Store is required; the zero value of the rest is
// the default.
type Options struct {
	Store      store.Writer
	Pages      PageRules
	KnownPages []string // pages of this hour, which do not count as new
	// Established are names of earlier hours, by kind: page, feature, release and environment.
	// Places are kept for them, however many new ones come.
	Established map[string][]string
	// Origins may send traces, such as "https://example.com" or
	// "https://*.example.com", which is every host below example.com. None: all may.
	// It keeps other sites' scripts out, not programs, which can claim any origin.
	Origins []string
	// FirstParty are the hosts whose scripts are shown, such as "example.com" or
	// "*.example.com"; code of other hosts becomes (third-party HOST). None: all are
	// shown.
	FirstParty []string
	// PublicURL is where browsers reach the collector and its scripts, such as "https://www.example.com/p". Empty: at
	// the host to which they send.
	PublicURL string
	// Keys let requests in that carry one as the parameter key. None: all come in. See
	// also [Collector.SetKeys].
	Keys []Key
	// Sites are kept apart: the pages of traces with a key of theirs are named after them. Keys of no
	// site are as they are without sites.
	Sites []site.Site
	// Keep is how long traces are kept, 0 for ever; SiteBytes are those that are there, see
	// [Collector.SiteBytes].
	Keep      time.Duration
	SiteBytes map[string]map[int64]int64
	// Sampling tells clients in the answer which share of the views of their page should
	// be profiled; see also [Collector.SetSampling].
	Sampling SamplingRules
	// Features are added to traces, see also [Collector.SetFeatures].
	Features feature.Rules
	Limits   Limits
	Proxies  Proxies // how clients are told apart
	// Now is time.Now unless it is set. Rates go by the monotonic reading that is in its
	// times: by the wall clock, a rate that was used up while the clock was ahead would be
	// closed until time has caught up.
	Now     func() time.Time
	Metrics prometheus.Registerer // none
	Logger  *slog.Logger          // none
}

// Collector receives traces. It is an [http.Handler] for POST /v1/traces?key=KEY and POST
// /v1/views?key=KEY, which are also /t/KEY and /v/KEY.
type Collector struct {
	opts      Options
	bounds    atomic.Pointer[bounds]
	mux       *http.ServeMux
	metrics   *metrics
	refusals  *requests.Refusals
	arrivals  arrivals
	origins   atomic.Pointer[[]originRule]
	own       atomic.Pointer[[]string] // hosts whose scripts are shown, in lower case; none: all
	sampling  atomic.Pointer[SamplingRules]
	most      atomic.Pointer[map[string]float64] // rates by page, nil: none
	features  atomic.Pointer[feature.Rules]
	pages     *quota.Budget
	tags      *quota.Budget // by kind
	labels    *quota.Budget // values, by key
	viewPages *quota.Budget // since the start
	viewTimes viewTimes
	keys      atomic.Pointer[keyring]
	sites     *sites
	inFlight  *pool // of the memory that bodies take
	decoders  sync.Pool
	// decoding has a place for each body that may be decoded at once. A decoded trace
	// takes several times the memory of its bytes, and more of them than processors
	// would not be done any sooner. One network that is known has half of the processors.
	decoding   *fair.Semaphore
	proxyAsked sync.Once // who runs the daemon was asked for the proxy
}

// New returns a Collector.
func New(o Options) *Collector {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	c := &Collector{opts: o, mux: http.NewServeMux(), refusals: requests.NewRefusals(o.Logger)}
	c.bounds.Store(newBounds(o.Limits.WithDefaults(), nil))
	c.inFlight = newPool(c.bounds.Load().InFlight)
	c.metrics = newMetrics(o.Metrics, c.inFlight.bytes)
	c.SetOrigins(o.Origins)
	c.SetFirstParty(o.FirstParty)
	now := o.Now()
	c.arrivals.now.Since = now.UTC()
	lim := c.bounds.Load()
	c.pages, c.tags, c.labels, c.viewPages = quota.New(lim.Pages), quota.New(lim.Tags), quota.New(lim.Labels), quota.New(lim.Pages)
	for kind, names := range o.Established {
		if kind == kindPage {
			c.pages.Establish(kind, names)
		} else {
			c.tags.Establish(kind, names)
		}
	}
	c.pages.Start(now, kindPage, o.KnownPages)
	c.tags.Start(now, "", nil)
	c.labels.Start(now, "", nil)
	c.viewPages.Start(time.Time{}, "", nil)
	c.SetSampling(o.Sampling)
	c.SetFeatures(o.Features)
	c.SetKeys(o.Keys)
	c.sites = newSites(o.Sites, o.Keep, o.SiteBytes)
	c.decoders.New = func() any { return new(encode.BinaryDecoder) }
	c.decoding = fair.New(fair.Options{Turns: 2 * runtime.GOMAXPROCS(0), Each: max(1, runtime.GOMAXPROCS(0)/2)})
	c.serve("/v1/traces", "/t/", c.post)
	c.serve("/v1/views", "/v/", c.postView)
	return c
}

// serve has post answer requests to a path of the API, and to the one that the script uses for it, which ends in the key.
// Filter lists of ad blockers know words such as traces and key, so the script says neither, and a site may put any path
// before.
func (c *Collector) serve(path, short string, post http.HandlerFunc) {
	c.mux.HandleFunc("POST "+path, post)
	c.mux.HandleFunc("OPTIONS "+path, c.preflight)
	c.mux.HandleFunc("POST "+short+"{key...}", lengthened(path, post))
	c.mux.HandleFunc("OPTIONS "+short+"{key...}", lengthened(path, c.preflight))
}

// Patterns returns the patterns of the paths that a [Collector] serves, as [http.ServeMux] has them.
func Patterns() []string { return []string{"/v1/", "/t/", "/v/"} }

// lengthened has next see a request to a short path as one to the long one.
func lengthened(path string, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		long := *r
		long.URL = &url.URL{Path: path, RawQuery: r.URL.RawQuery}
		if key := r.PathValue("key"); key != "" {
			long.URL.RawQuery = url.Values{"key": {key}}.Encode()
		}
		next(w, &long)
	}
}

// ServeHTTP implements [http.Handler].
func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) { c.mux.ServeHTTP(w, r) }

func (c *Collector) post(w http.ResponseWriter, r *http.Request) {
	started := time.Now()
	reply := &answer{IDs: []string{}}
	status := http.StatusAccepted
	if err := c.receive(w, r, reply); err != nil {
		status = c.writeError(w, r, err, reply)
	} else {
		c.arrivals.traces(reply.Accepted)
		w.Header().Set("Ingest-Durability", string(cmp.Or(reply.durability, store.Local)))
		if reply.again() {
			askBack(w, 1)
		}
		writeJSON(w, status, reply)
	}
	c.countAnswer(r, status)
	c.metrics.seconds.Observe(time.Since(started).Seconds())
}

// receive does what the request asks for. If it returns nil, the traces that the reply
// calls accepted are durable.
func (c *Collector) receive(w http.ResponseWriter, r *http.Request, reply *answer) error {
	who, err := c.admit(w, r)
	if err != nil {
		return err
	}
	f, err := formOf(r.Header)
	if err != nil {
		return err
	}
	mem := memory{of: c.inFlight, from: who.Network}
	defer mem.release()
	sent, err := readBody(w, r, c.bounds.Load().Limits, &mem)
	if err != nil {
		return err
	}
	b, err := c.decode(sent, f, who, &mem)
	if err != nil {
		return err
	}
	// A page that sends its last trace is often gone before the answer. All that was
	// asked for is here, so it is stored.
	err = c.store(context.WithoutCancel(r.Context()), who, b, reply)
	if err == nil && b.first != nil {
		c.note(r, b.first, len(b.rejected))
	}
	return err
}

// countAnswer counts an answer, by its site too if there is one.
func (c *Collector) countAnswer(r *http.Request, status int) {
	c.metrics.requests.WithLabelValues(strconv.Itoa(status), r.URL.Path).Inc()
	if k := c.keys.Load().of(r); k != nil {
		result := "accepted"
		if status >= 300 {
			result = "refused"
		}
		c.metrics.sites.WithLabelValues(k.Site, result).Inc()
	}
}

// admit refuses requests for what they are, whatever they bring. A page may read why, so
// the origin comes first.
func (c *Collector) admit(w http.ResponseWriter, r *http.Request) (who client, err error) {
	keys := c.keys.Load()
	key := keys.of(r)
	if err := c.cors(w, r, key); err != nil {
		return who, err
	}
	if key == nil && len(keys.keys) > 0 {
		return who, refuseKey(w, r)
	}
	now := c.opts.Now()
	who = c.opts.Proxies.clientOf(r, key)
	if c.opts.Proxies.unnamed(r) {
		c.proxyAsked.Do(func() {
			c.opts.Logger.Warn("browsers come through a proxy that is not named, so all share as one client: name it with --trusted-proxies")
		})
	}
	if !c.bounds.Load().clients.allow(who.addr, now) {
		return who, refuse(http.StatusTooManyRequests, "rate", "over %g requests a second from this address", c.bounds.Load().Rate)
	}
	// Without keys of the site a key is what anybody likes.
	if key != nil && !key.requests.allow(struct{}{}, who.Network, now) {
		return who, refuse(http.StatusTooManyRequests, "key_rate", "over %g requests a second with this key; send this again later", key.Rate)
	}
	return who, c.sites.admit(who, now)
}

// decode returns the records that a body holds.
func (c *Collector) decode(sent []byte, f form, who client, mem *memory) (*batch, error) {
	done, err := c.decoding.Take(context.Background(), who.name()) // all is here, so it is worth the wait
	if err != nil {
		return nil, err
	}
	defer done()
	body, err := inflate(sent, f.encoding, c.bounds.Load().Limits, mem)
	if err != nil {
		return nil, err
	}
	c.metrics.bytes.Add(float64(len(body)))
	parts, binary, err := split(body, f, c.bounds.Load().Limits)
	if err != nil {
		return nil, err
	}
	b := &batch{size: len(parts), binary: binary}
	for i, part := range parts {
		rec, t, err := c.record(part, binary, who)
		if err != nil {
			c.reject(b, i, err)
			continue
		}
		t.index = i
		b.records, b.tallies = append(b.records, rec), append(b.tallies, t)
	}
	return b, nil
}

// decodeTrace reads a trace. It may be a part of d.
func (c *Collector) decodeTrace(d *encode.BinaryDecoder, data []byte, binary bool) (doc encode.Document, err error) {
	if binary {
		return d.Decode(data, c.bounds.Load().Trace)
	}
	doc.Trace, err = encode.DecodeTraceJSON(data, c.bounds.Load().Trace)
	return doc, err
}
