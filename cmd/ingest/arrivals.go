package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"sync"
	"time"

	"github.com/fieldtrie/fieldtrie/collect"
	"github.com/fieldtrie/fieldtrie/query"
)

// arrivals is what /api/v1/arrivals answers: where browsers send, and what has come from there. Who
// sets up a site looks here why nothing is stored yet.
type arrivals struct {
	URL        string       `json:"url"`           // of the public address, without a slash at its end
	Configured bool         `json:"configured"`    // --public-url said so; otherwise it is how this machine reaches it
	Key        string       `json:"key,omitempty"` // one that a page may send with, if it needs one
	Scripts    *scriptLoads `json:"scripts,omitempty"`
	*collect.Arrivals
}

// unknownKey stands for a key where those that there are belong to sites.
const unknownKey = "YOUR-KEY"

// serveArrivals returns what serves it. Arrivals belong to all sites, so users of some
// pages get only the public address.
func (s *serving) serveArrivals(loads *scriptCounter) http.Handler {
	where := arrivals{URL: s.config.publicURL, Configured: s.config.publicURL != ""}
	if !where.Configured {
		where.URL = urlOf(s.public.Addr(), s.certificate)
	}
	switch {
	case len(s.config.keys) > 0:
		where.Key = s.config.keys[0]
	case s.config.keysFile != "":
		where.Key = unknownKey
	}
	return newForPages(func(p query.Pages) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			a := where
			if p.Takes == nil {
				received := s.collector.Arrivals()
				a.Arrivals, a.Scripts = &received, loads.now()
			}
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Cache-Control", "no-store")
			_ = json.NewEncoder(w).Encode(a) // the client may have gone
		})
	})
}

// scriptLoads counts how often browsers asked for the script, revalidations included.
type scriptLoads struct {
	Count int64      `json:"count"`
	Last  *time.Time `json:"last,omitempty"`
}

// scriptCounter counts requests for scripts.
type scriptCounter struct {
	mu    sync.Mutex
	loads scriptLoads
}

// of counts the requests for scripts that next serves.
func (c *scriptCounter) of(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Its parts come with their integrity behind the name, and say nothing more.
		if ext := path.Ext(r.URL.Path); (ext == ".js" || ext == ".mjs") && r.URL.RawQuery == "" {
			now := time.Now().UTC()
			c.mu.Lock()
			c.loads = scriptLoads{c.loads.Count + 1, &now}
			c.mu.Unlock()
		}
		next.ServeHTTP(w, r)
	})
}

// now returns what was counted.
func (c *scriptCounter) now() *scriptLoads {
	c.mu.Lock()
	defer c.mu.Unlock()
	loads := c.loads
	return &loads
}

// checkPublicURL refuses what is no place to which a page can send.
func checkPublicURL(s string) error {
	u, err := url.Parse(s)
	if s != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil ||
		u.RawQuery+u.Fragment != "" || s[len(s)-1] == '/') {
		return fmt.Errorf("--public-url: %q is not a URL such as https://profiles.example.com, without a slash at "+
			"its end", s)
	}
	return nil
}
