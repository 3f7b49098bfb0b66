package collect

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/fieldtrie/fieldtrie/collect/redact"

	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/scripturl"
)

// hideFrames removes personal data from the frames of t, and replaces each run of third-party
// frames by one frame. inline maps the paths in t to their pages: an inline script has the URL of
// its document, and must not reveal what the page may not. host is the host that received the
// trace.
//
// It reports whether it changed t. For nearly all traces it does not.
func (c *Collector) hideFrames(t *trie.Trace, inline map[string]string, r *redact.Redactor, host string) bool {
	if c.shows(&t.Trie, inline, r, host) {
		return false
	}
	foreign := map[string]trie.Frame{} // by resource; the zero Frame for code of the site
	rename := func(f trie.Frame) trie.Frame {
		g, known := foreign[f.Resource]
		if !known {
			g = c.foreign(f.Resource, host)
			foreign[f.Resource] = g
		}
		if g != (trie.Frame{}) {
			return g
		}
		f.Name, f.Resource = r.Text(f.Name), scriptURL(r, f.Resource, inline)
		if f.Resource == "" {
			f.Line, f.Column = 0, 0
		}
		return f
	}
	*t = *t.Coalesce(rename)
	return true
}

// shows reports whether all frames of t may be shown unchanged. It checks each text once, not each
// frame.
func (c *Collector) shows(t *trie.Trie, inline map[string]string, r *redact.Redactor, host string) bool {
	const name, resource = 1, 2
	looked := make([]uint8, len(t.Strings))
	for i := range t.Frames {
		f := &t.Frames[i]
		if looked[f.Name]&name == 0 {
			looked[f.Name] |= name
			if s := t.Strings[f.Name]; r.Text(s) != s {
				return false
			}
		}
		if looked[f.Resource]&resource == 0 {
			looked[f.Resource] |= resource
			s := t.Strings[f.Resource]
			if c.foreign(s, host) != (trie.Frame{}) || scriptURL(r, s, inline) != s {
				return false
			}
		}
		if f.Resource == 0 && (f.Line|f.Column != 0 || t.FrameOf(trie.FrameID(i)).Foreign()) {
			return false
		}
	}
	return true
}

// scriptURL returns the redacted URL of a script. The path of an inline script becomes its page.
// The debug ID is kept: it identifies a build, not a visitor.
func scriptURL(r *redact.Redactor, resource string, inline map[string]string) string {
	url, id := scripturl.CutDebugID(resource)
	return scripturl.WithDebugID(r.Text(pageScript(url, inline)), id)
}

// pageScript replaces the path of an inline script, which may contain ids, by its page. inline maps
// paths to pages. It does not change URLs with other paths.
func pageScript(resource string, inline map[string]string) string {
	scheme, rest, ok := strings.Cut(resource, "://")
	i := strings.IndexByte(rest, '/')
	if !ok || i < 0 {
		return resource
	}
	page, ok := inline[rest[i:]]
	if !ok || !strings.HasPrefix(page, "/") {
		return resource
	}
	return scheme + "://" + rest[:i] + page
}

// ownName matches the names of the scripts of package sdk, with and without a hash.
var ownName = regexp.MustCompile(`^sdk(-rest|-stackless|-recorder|-all|-core)?(\.[0-9a-f]{12})?\.m?js$`)

// unplain converts a neutral script name, which filter lists do not contain, to the standard name:
// load.js to sdk.js, and rest.mjs to sdk-rest.mjs. The loader requests its parts by neutral names.
func unplain(name string) string {
	if rest, ok := strings.CutPrefix(name, "load."); ok {
		return "sdk." + rest
	}
	return "sdk-" + name
}

// ownScript reports whether a resource is the profiling script, as served by the daemon at host. A
// script named just sdk.js must come from this daemon. A script with a neutral name must come from
// the URL at which browsers reach it.
func (c *Collector) ownScript(resource, host string) bool {
	at := strings.LastIndexByte(resource, '/') + 1
	name := resource[at:]
	if !strings.HasPrefix(name, "sdk") {
		return c.serves(resource[:at], host) && ownName.MatchString(unplain(name))
	}
	parts := ownName.FindStringSubmatch(name)
	if parts == nil {
		return false
	}
	u, err := url.Parse(resource)
	return parts[1]+parts[2] != "" || err == nil && strings.EqualFold(u.Host, host)
}

// serves reports whether browsers reach the daemon at base, a URL that ends in a slash. That is the
// public URL or, if the public URL has no path, the host.
func (c *Collector) serves(base, host string) bool {
	_, at, ok := strings.Cut(base, "://")
	_, public, _ := strings.Cut(c.opts.PublicURL, "://")
	if public != "" && strings.EqualFold(at, public+"/") {
		return true
	}
	return ok && host != "" && !strings.Contains(public, "/") && strings.EqualFold(at, host+"/")
}

// SetFirstParty replaces [Options].FirstParty. It may be called while requests are served.
func (c *Collector) SetFirstParty(hosts []string) {
	own := make([]string, len(hosts))
	for i, host := range hosts {
		own[i] = strings.ToLower(host)
	}
	c.own.Store(&own)
}

// foreign returns the frame that replaces the code of a resource if the resource is a third-party
// script or the profiling script, and else the zero Frame. Code without a host, such as built-in
// functions of the browser, counts as the site's.
func (c *Collector) foreign(resource, to string) trie.Frame {
	if c.ownScript(resource, to) {
		return trie.Frame{Name: trie.FrameFieldtrie}
	}
	hosts := *c.own.Load()
	if len(hosts) == 0 || !strings.Contains(resource, "://") {
		return trie.Frame{}
	}
	u, err := url.Parse(strings.TrimPrefix(resource, "blob:"))
	if err != nil {
		return trie.Frame{Name: trie.FrameUnknown} // the owner is unknown
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if host == "" { // file:///app.js
		return trie.Frame{}
	}
	for _, own := range hosts {
		if suffix, ok := strings.CutPrefix(own, "*."); ok && strings.HasSuffix(host, "."+suffix) {
			return trie.Frame{}
		}
		if own == host || own == strings.ToLower(u.Host) {
			return trie.Frame{}
		}
	}
	return trie.ThirdParty(redact.Text(host))
}
