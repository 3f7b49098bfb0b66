package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fieldtrie/fieldtrie/collect"
	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/internal/lru"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/api"
	"github.com/fieldtrie/fieldtrie/rules/access"
	"github.com/fieldtrie/fieldtrie/rules/feature"
	"github.com/fieldtrie/fieldtrie/rules/site"
	"github.com/fieldtrie/fieldtrie/store/shared"
)

// readSites returns the isolated sites. Without --sites there are none.
func (c *config) readSites() ([]site.Site, error) {
	sites, err := readRules(c.sites, site.Parse)
	if err != nil {
		return nil, within("sites", err)
	}
	_, onDisk := shared.Folder(c.data)
	for _, s := range sites {
		if s.Disk > 0 && !onDisk {
			return nil, fmt.Errorf("sites: %s: site %s: disk: a bucket has no such bound; use rate", c.sites, s.Name)
		}
	}
	return sites, nil
}

// checkSites returns an error for unknown sites, if there are sites: traces with the key of an
// unknown site would be stored without one. If the file of sites is unreadable, names are not
// checked.
func (c *config) checkSites(sites []site.Site, file string, named ...string) error {
	if c.sites == "" || sites == nil {
		return nil
	}
	var wrong []error
	for _, name := range named {
		if !slices.ContainsFunc(sites, func(s site.Site) bool { return s.Name == name }) {
			wrong = append(wrong, fmt.Errorf("%s: site %s is not in the file of --sites", file, name))
		}
	}
	return errors.Join(wrong...)
}

func sitesOf(keys []collect.Key) (names []string) {
	for _, k := range keys {
		if k.Site != "" {
			names = append(names, k.Site)
		}
	}
	return names
}

// mostForPages is the maximum number of cached handlers for users of some pages.
const mostForPages = 256

// forPages serves a source to users of some pages, with a handler for each set of pages.
type forPages struct {
	make     func(query.Pages) http.Handler
	handlers *lru.Cache[http.Handler]
}

func newForPages(make func(query.Pages) http.Handler) http.Handler {
	return &forPages{make: make, handlers: lru.New[http.Handler](mostForPages, nil)}
}

// of returns the handler for a set of pages.
func (h *forPages) of(pages query.Pages) http.Handler {
	handler, ok := h.handlers.Get(pages.Key)
	if !ok {
		handler = h.make(pages)
		h.handlers.Put(pages.Key, handler, 1)
	}
	return handler
}

// ServeHTTP implements [http.Handler].
func (h *forPages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r, pages, err := pagesOf(r)
	if err != nil {
		api.WriteError(w, http.StatusBadRequest, err)
		return
	}
	h.of(pages).ServeHTTP(w, r)
}

// pagesOf returns the pages that a request is about: those that who sent it may ask about, and of
// these the ones of the site that it names. The request is returned without the site, its pages
// with it.
func pagesOf(r *http.Request) (*http.Request, query.Pages, error) {
	allowed := allowedPages(access.From(r.Context()))
	values := r.URL.Query()
	if !values.Has(api.SiteParameter) {
		return r, allowed, nil
	}
	name := values.Get(api.SiteParameter)
	if err := site.CheckName(name); err != nil {
		return r, allowed, fmt.Errorf("parameter site: %w", err)
	}
	values.Del(api.SiteParameter)
	for _, key := range []string{"page", "compare_page"} {
		if page := values.Get(key); page != "" {
			values.Set(key, site.Page(name, page))
		}
	}
	asked := r.Clone(r.Context())
	asked.URL.RawQuery = values.Encode()
	asked.RequestURI = asked.URL.RequestURI()
	return asked, allowed.Both(query.OfSite(name)), nil
}

// allowedPages returns the pages that a user may query: all without a guard.
func allowedPages(who *access.Identity) (pages query.Pages) {
	if who == nil {
		return pages
	}
	if len(who.Sites) > 0 {
		pages = query.OfSites(fmt.Sprintf("sites %q", who.Sites), who.Sites...)
	}
	if len(who.Pages) > 0 {
		pages = pages.Both(query.Pages{Key: fmt.Sprintf("pages %q", who.Pages), Takes: func(page string) bool {
			return slices.ContainsFunc(who.Pages, func(pattern string) bool { return feature.FitsPage(pattern, page) })
		}})
	}
	return pages
}

// siteBytesFile stores the bytes of traces by site, next to the data.
const siteBytesFile = "sites.json"

// siteBytes returns what the traces of sites took when the daemon ended.
func (c *config) siteBytes(log *slog.Logger) map[string]map[int64]int64 {
	dir, onDisk := shared.Folder(c.data)
	if c.sites == "" || !onDisk {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(dir, siteBytesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var stored map[string]map[int64]int64
	if err == nil {
		err = json.Unmarshal(text, &stored)
	}
	if err != nil {
		log.Warn("bytes of traces by site are counted from now on", "err", err)
		return nil
	}
	return stored
}

// keepSiteBytes writes down what the traces of sites take, until ctx is done.
func (c *config) keepSiteBytes(ctx context.Context, of *collect.Collector, log *slog.Logger) {
	dir, onDisk := shared.Folder(c.data)
	if c.sites == "" || !onDisk {
		return
	}
	write := func() {
		text, err := json.Marshal(of.SiteBytes())
		if err == nil {
			err = disk.WriteFile(filepath.Join(dir, siteBytesFile), text)
		}
		if err != nil {
			log.Warn("write down what the traces of sites take", "err", err)
		}
	}
	every(ctx, time.Minute, write)
	write()
}

// siteMetrics shows what the traces of sites take.
type siteMetrics struct{ of *collect.Collector }

// Describe implements [prometheus.Collector]. It sends nothing, like the collector of a node.
func (m siteMetrics) Describe(chan<- *prometheus.Desc) {}

// Collect implements [prometheus.Collector].
func (m siteMetrics) Collect(out chan<- prometheus.Metric) {
	desc := prometheus.NewDesc("fieldtrie_ingest_site_bytes",
		"Bytes of the traces of a site that are kept, as they were handed to the store; the disk of --sites bounds "+
			"them.", []string{"site"}, nil)
	for name, hours := range m.of.SiteBytes() {
		sum := int64(0)
		for n := range maps.Values(hours) {
			sum += n
		}
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(sum), name)
	}
}

// describeSites summarises a file of sites.
func describeSites(sites []site.Site) string {
	names := map[string]bool{}
	for _, s := range sites {
		names[s.Name] = true
	}
	return "sites " + strings.Join(slices.Sorted(maps.Keys(names)), ", ")
}
