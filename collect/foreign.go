package collect

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/fieldtrie/fieldtrie/collect/redact"

	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/scripturl"
)

// hideFrames takes personal data out of the frames of t, and makes one frame of each
// run of code that is not the site's own. inline has the pages of the paths that are in
// t: a script in a document has the URL of that, and what a page may not say its scripts
// may not either. host is that to which the trace was sent.
//
// It reports whether there was anything to do; for nearly all traces there is not.
func (c *Collector) hideFrames(t *trie.Trace, inline map[string]string, r *redact.Redactor, host string) bool {
	if c.shows(&t.Trie, inline, r, host) {
		return false
	}
	foreign := map[string]trie.Frame{} // by resource; the zero Frame if it is the site's own
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

// shows reports whether all of the frames of t may be shown as they are. It looks at each
// text once, and not at each frame.
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

// scriptURL returns the redacted URL of a script, with the page for the path of an inline one. The debug
// ID stays: it is that of a build, which all visitors have.
func scriptURL(r *redact.Redactor, resource string, inline map[string]string) string {
	url, id := scripturl.CutDebugID(resource)
	return scripturl.WithDebugID(r.Text(pageScript(url, inline)), id)
}

// pageScript returns the URL of a script with its path replaced by the page of that path,
// if there is one.
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

// ownName is the name of a script that the package sdk serves: with a hash, of a part, or alone.
var ownName = regexp.MustCompile(`^sdk(-rest|-stackless|-recorder|-all|-core)?(\.[0-9a-f]{12})?\.m?js$`)

// unplain returns the name with sdk of a script that has the other one, which filter lists do not know: sdk.js for load.js, and
// sdk-rest.mjs for rest.mjs. The loader asks for its parts by those.
func unplain(name string) string {
	if rest, ok := strings.CutPrefix(name, "load."); ok {
		return "sdk." + rest
	}
	return "sdk-" + name
}

// ownScript reports whether a resource is the script that profiles, as the daemon at host serves it. A script of the name
// sdk.js alone has to come from there, and one of a plain name from the place at which the daemon is reached.
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

// serves reports whether the daemon at host is reached at base, a URL with a slash at its end: the public URL or, if that has no
// path, the host.
func (c *Collector) serves(base, host string) bool {
	_, at, ok := strings.Cut(base, "://")
	_, public, _ := strings.Cut(c.opts.PublicURL, "://")
	if public != "" && strings.EqualFold(at, public+"/") {
		return true
	}
	return ok && host != "" && !strings.Contains(public, "/") && strings.EqualFold(at, host+"/")
}

// SetFirstParty replaces the hosts whose scripts are shown, see [Options]. It may be called while
// traces are received.
func (c *Collector) SetFirstParty(hosts []string) {
	own := make([]string, len(hosts))
	for i, host := range hosts {
		own[i] = strings.ToLower(host)
	}
	c.own.Store(&own)
}

// foreign returns the frame for the code of a resource if that is of another host, or is the
// script that profiles, else the zero Frame. Code without a host, such as the browser's own
// functions, is the site's.
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
		return trie.Frame{Name: trie.FrameUnknown} // whose it is can not be said
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
