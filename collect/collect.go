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

// Options configures a [Collector]. Store is required; the zero value of every other field selects
// its default.
type Options struct {
	Store      store.Writer
	Pages      PageRules
	KnownPages []string // pages already seen this hour, which do not count as new
	// Established are names of earlier hours, by kind: page, feature, release and environment.
	// Places are reserved for them, however many new names arrive.
	Established map[string][]string
	// Origins may send traces, such as "https://example.com" or "https://*.example.com", which
	// matches every host below example.com. If it is empty, every origin may. The check keeps out
	// scripts of other sites, but not programs, which can claim any origin.
	Origins []string
	// FirstParty are the hosts whose scripts are shown, such as "example.com" or "*.example.com".
	// Frames of scripts from other hosts become (third-party HOST). If it is empty, all are shown.
	FirstParty []string
	// PublicURL is the URL at which browsers reach the collector and its scripts, such as
	// "https://www.example.com/p". The default is the host of each request.
	PublicURL string
	// Keys are accepted in the parameter key. If there are none, no key is needed. See also
	// [Collector.SetKeys].
	Keys []Key
	// Sites are separated: pages of traces with a site's key are prefixed with the name of the
	// site. Pages of other keys have no prefix.
	Sites []site.Site
	// Keep is the retention of traces, 0 for no limit. SiteBytes are the sizes of the stored
	// traces, see [Collector.SiteBytes].
	Keep      time.Duration
	SiteBytes map[string]map[int64]int64
	// Sampling sets the share of a page's views that should be profiled. Responses contain it. See
	// also [Collector.SetSampling].
	Sampling SamplingRules
	// Features are rules for features to add to traces, see also [Collector.SetFeatures].
	Features feature.Rules
	Limits   Limits
	Proxies  Proxies // how clients are distinguished
	// Now defaults to time.Now. Rate limits use the monotonic clock of its times. With the wall
	// clock, a limit exhausted while the clock was ahead would block until time has caught up.
	Now     func() time.Time
	Metrics prometheus.Registerer // default: none
	Logger  *slog.Logger          // default: no log
}

// Collector receives traces. It is an [http.Handler] for POST /v1/traces?key=KEY and POST
// /v1/views?key=KEY, which are also available as /t/KEY and /v/KEY. It is safe for concurrent use
// by multiple goroutines, including its methods that change settings.
type Collector struct {
	opts      Options
	bounds    atomic.Pointer[bounds]
	mux       *http.ServeMux
	metrics   *metrics
	refusals  *requests.Refusals
	arrivals  arrivals
	origins   atomic.Pointer[[]originRule]
	own       atomic.Pointer[[]string] // first-party hosts in lower case; none: all
	sampling  atomic.Pointer[SamplingRules]
	most      atomic.Pointer[map[string]float64] // upper bounds of sampling rates by page; nil: none
	features  atomic.Pointer[feature.Rules]
	pages     *quota.Budget
	tags      *quota.Budget // names by kind
	labels    *quota.Budget // values by key of the label
	viewPages *quota.Budget // since the start of the process
	viewTimes viewTimes
	keys      atomic.Pointer[keyring]
	sites     *sites
	inFlight  *pool // memory for request bodies
	decoders  sync.Pool
	// decoding limits how many bodies are decoded concurrently. A decoded trace takes several times
	// the memory of its bytes, and more goroutines than processors would not finish sooner. One
	// known network gets at most half of the processors.
	decoding   *fair.Semaphore
	proxyAsked sync.Once // for one warning that proxies are not configured
}

// New returns a Collector. The caller must not change the slices and maps of o afterwards.
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
	c.pages, c.tags, c.labels, c.viewPages = quota.New(lim.Pages), quota.New(lim.Tags), quota.New(lim.Labels),
		quota.New(lim.Pages)
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

// serve registers post for a path of the API and for its short form, which ends in the key. Filter
// lists of ad blockers contain words such as traces and key, so the script uses the short form, and
// a site may add any prefix.
func (c *Collector) serve(path, short string, post http.HandlerFunc) {
	c.mux.HandleFunc("POST "+path, post)
	c.mux.HandleFunc("OPTIONS "+path, c.preflight)
	c.mux.HandleFunc("POST "+short+"{key...}", lengthened(path, post))
	c.mux.HandleFunc("OPTIONS "+short+"{key...}", lengthened(path, c.preflight))
}

// Patterns returns the patterns of the paths that a [Collector] serves, for [http.ServeMux].
func Patterns() []string { return []string{"/v1/", "/t/", "/v/"} }

// lengthened rewrites a short path to the long one for next.
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

// receive handles a request with traces. If it returns nil, the accepted traces in the reply are
// durable.
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
	// A page that sends its last trace is often gone before the response. The request is complete,
	// so the traces are stored even if the client is gone.
	err = c.store(context.WithoutCancel(r.Context()), who, b, reply)
	if err == nil && b.first != nil {
		c.note(r, b.first, len(b.rejected))
	}
	return err
}

// countAnswer counts a response by status, and by site if the key belongs to one.
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

// admit checks a request before its body is read. The origin comes first, so that a page may read
// why its request was refused.
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
			c.opts.Logger.Warn(
				"browsers come through a proxy that is not named, so all share as one client: name it with " +
					"--trusted-proxies")
		})
	}
	if !c.bounds.Load().clients.allow(who.addr, now) {
		return who, refuse(http.StatusTooManyRequests, "rate", "over %g requests a second from this address",
			c.bounds.Load().Rate)
	}
	// Without configured keys, the key is any text that the client chose.
	if key != nil && !key.requests.allow(struct{}{}, who.Network, now) {
		return who, refuse(http.StatusTooManyRequests, "key_rate",
			"over %g requests a second with this key; send this again later", key.Rate)
	}
	return who, c.sites.admit(who, now)
}

// decode parses and checks the traces of a body.
func (c *Collector) decode(sent []byte, f form, who client, mem *memory) (*batch, error) {
	done, err := c.decoding.Take(context.Background(), who.name()) // the body is complete, so wait
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

// decodeTrace decodes a trace. The trace may share the memory of d.
func (c *Collector) decodeTrace(d *encode.BinaryDecoder, data []byte, binary bool) (doc encode.Document, err error) {
	if binary {
		return d.Decode(data, c.bounds.Load().Trace)
	}
	doc.Trace, err = encode.DecodeTraceJSON(data, c.bounds.Load().Trace)
	return doc, err
}
