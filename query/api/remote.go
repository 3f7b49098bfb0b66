package api

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/internal/authorities"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/changes"
	"github.com/fieldtrie/fieldtrie/query/selection"
)

// Remote is a source that queries a daemon over HTTP.
type Remote struct {
	client *http.Client
	base   string
	site   string // empty for all sites that the client may see
}

// SiteParameter is the parameter that narrows a query to a site. The server that wraps a [Handler]
// handles it, see [query.Local.Only].
const SiteParameter = "site"

// SetSite limits all queries to a site.
func (r *Remote) SetSite(name string) { r.site = name }

// SocketName is the name of the Unix socket, in the data directory of a daemon, on which it serves
// [Handler].
const SocketName = "query.sock"

// scriptsAlone is part of the response of the public address of a daemon to queries.
const scriptsAlone = "/sdk.json lists the scripts"

// maxResponse is the maximum size of a response, in bytes.
const maxResponse = 1 << 30

// NewRemote returns a source that queries the daemon at addr, see [authorities.ParseAddr]. A user
// and password in the URL are sent as basic authentication.
func NewRemote(addr string) (*Remote, error) {
	u, err := authorities.ParseAddr(addr)
	if err != nil {
		return nil, err
	}
	t := &remoteTransport{Transport: authorities.Transport(u)}
	if u.User != nil {
		password, _ := u.User.Password()
		t.authorization = "Basic " + base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password))
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return &Remote{client: &http.Client{Transport: t, CheckRedirect: refuseRedirect},
		base: strings.TrimSuffix(u.String(), "/")}, nil
}

// SetToken makes r send a token instead of a user and password. SetToken and SetRoots must be
// called before the first query.
func (r *Remote) SetToken(token string) {
	if t, ok := r.client.Transport.(*remoteTransport); ok {
		t.authorization = "Bearer " + token
	}
}

// SetRoots makes r trust the certificates of these authorities instead of the system's.
func (r *Remote) SetRoots(roots *x509.CertPool) {
	if t, ok := r.client.Transport.(*remoteTransport); ok {
		t.TLSClientConfig = &tls.Config{RootCAs: roots}
	}
}

// remoteTransport adds the credentials to each request.
type remoteTransport struct {
	*http.Transport
	authorization string // "": none
}

func (t *remoteTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.authorization != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", t.authorization)
	}
	return t.Transport.RoundTrip(r)
}

// refuseRedirect rejects redirects, so that credentials are not sent to other servers.
func refuseRedirect(r *http.Request, _ []*http.Request) error {
	return fmt.Errorf("it redirects to %s, which is not followed; give the address of the daemon itself",
		r.URL.Redacted())
}

// NewSocketRemote returns a source that queries the daemon listening on a Unix socket.
func NewSocketRemote(path string) *Remote {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}
	return &Remote{client: &http.Client{Transport: &http.Transport{DialContext: dial}}, base: "http://ingest"}
}

// Alive reports whether a daemon accepts connections.
func (r *Remote) Alive() bool {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.base+"/healthz", nil)
	if err != nil {
		return false
	}
	res, err := r.client.Do(req)
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return res.StatusCode == http.StatusOK
}

func (r *Remote) get(ctx context.Context, path string, v url.Values) ([]byte, http.Header, error) {
	return r.send(ctx, http.MethodGet, path, v, nil)
}

// send sends a request, with a JSON body unless body is nil.
func (r *Remote) send(ctx context.Context, method, path string, v url.Values, send []byte) ([]byte,
	http.Header, error) {
	if r.site != "" {
		v = maps.Clone(v)
		v.Set(SiteParameter, r.site)
	}
	req, err := http.NewRequestWithContext(ctx, method, r.base+path+"?"+v.Encode(), bytes.NewReader(send))
	if err != nil {
		return nil, nil, err
	}
	if send != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Cache-Control", "no-cache") // for the newest data
	res, err := r.client.Do(req)
	if err != nil {
		if x, ok := errors.AsType[*url.Error](err); ok {
			err = x.Err // without the URL
		}
		return nil, nil, fmt.Errorf("ask the daemon: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxResponse+1))
	if err != nil {
		return nil, nil, fmt.Errorf("read the daemon's response: %w", err)
	}
	if len(body) > maxResponse {
		return nil, nil, fmt.Errorf("daemon's response: over %d bytes; ask for less", maxResponse)
	}
	if res.StatusCode == http.StatusBadRequest && strings.Contains(string(body), "HTTPS server") {
		return nil, nil, errors.New("the daemon speaks TLS alone; give its address with https://")
	}
	if res.StatusCode == http.StatusNotFound && strings.Contains(string(body), scriptsAlone) {
		return nil, nil, fmt.Errorf(
			"%s is the public address of the daemon; give the private one, that of ingest --query-listen, by "+
				"default port 8419", r.base)
	}
	if res.StatusCode != http.StatusOK {
		return nil, nil, fmt.Errorf("daemon: %w", readError(res.Status, body))
	}
	return body, res.Header, nil
}

// Do sends a request other than a query, with a JSON body unless it is nil, and returns the
// response.
func (r *Remote) Do(ctx context.Context, method, path string, v url.Values, send []byte) ([]byte, error) {
	body, _, err := r.send(ctx, method, path, v, send)
	return body, err
}

// Profile implements [query.Source]; it does not call progress.
func (r *Remote) Profile(ctx context.Context, sel selection.Selection, _ func(uint64)) (query.Result, error) {
	v := queryOf(sel)
	v.Set("format", "trie")
	body, header, err := r.get(ctx, "/api/v1/profile", v)
	if err != nil {
		return query.Result{}, err
	}
	doc, err := encode.DecodeBinary(body, encode.FileLimits())
	if err != nil {
		return query.Result{}, fmt.Errorf("daemon's response: %w", err)
	}
	if doc.Profile == nil {
		return query.Result{}, errors.New("daemon's response: a trace instead of a profile")
	}
	out := query.Result{Profile: doc.Profile}
	if err := json.Unmarshal([]byte(header.Get(statsHeader)), &out.Stats); err != nil {
		return query.Result{}, fmt.Errorf("daemon's response: stats: %w", err)
	}
	return out, nil
}

// ask sends a query and decodes its JSON response.
func ask[T any](ctx context.Context, r *Remote, path string, v url.Values) (out T, err error) {
	body, _, err := r.get(ctx, path, v)
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(body, &out); err != nil {
		return out, fmt.Errorf("daemon's response: %w", err)
	}
	return out, nil
}

// Report implements [query.Source].
func (r *Remote) Report(ctx context.Context, sel selection.Selection) (query.Report, error) {
	sel.GroupBy = nil
	return ask[query.Report](ctx, r, "/api/v1/stats", queryOf(sel))
}

// Vitals implements [query.Source].
func (r *Remote) Vitals(ctx context.Context, sel selection.Selection) (query.Vitals, error) {
	return ask[query.Vitals](ctx, r, "/api/v1/vitals", queryOf(sel))
}

// Cost implements [query.Source].
func (r *Remote) Cost(ctx context.Context, sel selection.Selection) (query.Cost, error) {
	return ask[query.Cost](ctx, r, "/api/v1/cost", queryOf(sel))
}

// BrowserVersions implements [query.Source].
func (r *Remote) BrowserVersions(ctx context.Context, sel selection.Selection) (query.BrowserVersions, error) {
	v := queryOf(sel)
	v.Del("names")
	return ask[query.BrowserVersions](ctx, r, "/api/v1/browsers", v)
}

// Series implements [query.Source].
func (r *Remote) Series(ctx context.Context, q query.SeriesQuery) (query.Series, error) {
	v := queryOf(q.Selection)
	v.Set("step", stepAll)
	if q.Step > 0 {
		v.Set("step", q.Step.String())
	}
	v.Set("coverage", strconv.FormatBool(q.Coverage))
	v.Set("histogram", strconv.FormatBool(q.Histogram))
	if q.Limit > 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	return ask[query.Series](ctx, r, "/api/v1/series", v)
}

// Top implements [query.Source].
func (r *Remote) Top(ctx context.Context, q query.TopQuery) (query.Top, error) {
	q.GroupBy = nil
	v := queryOf(q.Selection)
	v.Set("limit", strconv.Itoa(cmp.Or(q.Limit, mostRows)))
	v.Set("sort", cmp.Or(q.Sort, "self"))
	return ask[query.Top](ctx, r, "/api/v1/top", v)
}

// Compare implements [query.Source].
func (r *Remote) Compare(ctx context.Context, q query.CompareQuery) (query.Comparison, error) {
	q.A.GroupBy, q.B.GroupBy = nil, nil
	v := queryOf(q.B)
	for k, values := range queryOf(explicit(q.A, q.B)) {
		v["compare_"+k] = values
	}
	v.Set("compare_page", q.A.Page) // even if empty, because a missing parameter means B's page
	v.Set("compare_feature", q.A.Feature)
	v.Set("method", cmp.Or(string(q.Method), "auto"))
	if q.Plain {
		v.Set("mix", "plain")
	}
	if q.Concurrent {
		v.Set("concurrent", "true")
	}
	for k, n := range map[string]int{"min_views": q.Options.MinViews, "limit": q.Options.Functions} {
		if n > 0 {
			v.Set(k, strconv.Itoa(n))
		}
	}
	return ask[query.Comparison](ctx, r, "/api/v1/compare", v)
}

// explicit returns a with explicit conditions, so that it inherits nothing from b when it is parsed
// as the other side of b.
func explicit(a, b selection.Selection) selection.Selection {
	a.Where, a.Minified, a.Parts = slices.Clone(a.Where), false, selection.Parts{} // these apply to both sides
	for _, m := range b.Where {
		if !slices.ContainsFunc(a.Where, func(x selection.Matcher) bool { return x.Key == m.Key }) {
			a.Where = append(a.Where, selection.Matcher{Key: m.Key, Op: selection.Matches, Value: ".*"})
		}
	}
	if a.Since.IsZero() {
		a.Since = time.Unix(0, 0)
	}
	if a.Until.IsZero() {
		a.Until = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return a
}

// Edits implements [query.Source].
func (r *Remote) Edits(ctx context.Context, q query.EditsQuery) (query.Edits, error) {
	v := url.Values{"release": {q.B}, "compare_release": {q.A}}
	if q.Page != "" {
		v.Set("page", q.Page)
		setTimes(v, "", q.Since, q.Until)
	}
	v.Set("limit", strconv.Itoa(cmp.Or(q.Limit, mostRows)))
	return ask[query.Edits](ctx, r, "/api/v1/edits", v)
}

// Labels implements [query.Source].
func (r *Remote) Labels(ctx context.Context, sel selection.Selection) (query.Labels, error) {
	sel.GroupBy = nil
	return ask[query.Labels](ctx, r, "/api/v1/labels", queryOf(sel))
}

// Values implements [query.Source].
func (r *Remote) Values(ctx context.Context, sel selection.Selection, key string) ([]string, error) {
	l, err := r.Labels(ctx, sel)
	return l.Names(key), err
}

// Views implements [query.Source].
func (r *Remote) Views(ctx context.Context, q query.ViewsQuery) (query.Views, error) {
	q.GroupBy, q.Parts = nil, selection.Parts{}
	v := queryOf(q.Selection)
	v.Del("names")
	var texts []string
	for _, x := range q.Quantiles {
		texts = append(texts, strconv.FormatFloat(x, 'g', -1, 64))
	}
	if len(texts) > 0 {
		v.Set("quantiles", strings.Join(texts, ","))
	}
	return ask[query.Views](ctx, r, "/api/v1/views", v)
}

// View implements [query.Source].
func (r *Remote) View(ctx context.Context, q query.ViewQuery) (query.View, error) {
	v := queryOf(selection.Selection{Page: q.Page, Since: q.Since, Until: q.Until, Minified: q.Minified})
	v.Set("id", q.ID)
	return ask[query.View](ctx, r, "/api/v1/view", v)
}

// Catalog implements [query.Source].
func (r *Remote) Catalog(ctx context.Context, since, until time.Time, _ time.Duration) (query.Catalog, error) {
	v := url.Values{}
	setTimes(v, "", since, until)
	return ask[query.Catalog](ctx, r, "/api/v1/catalog", v)
}

// Changes implements [changes.Source].
func (r *Remote) Changes(ctx context.Context, q changes.Query) (changes.List, error) {
	v := url.Values{}
	setTimes(v, "", q.Since, time.Time{})
	var states []string
	for _, s := range q.States {
		states = append(states, string(s))
	}
	for key, text := range map[string]string{"page": q.Page, "owner": q.Owner, "state": strings.Join(states, ",")} {
		if text != "" {
			v.Set(key, text)
		}
	}
	v.Set("limit", strconv.Itoa(cmp.Or(q.Limit, mostChanges)))
	return ask[changes.List](ctx, r, changesPath, v)
}

// Change implements [changes.Source].
func (r *Remote) Change(ctx context.Context, id string) (changes.Report, error) {
	return ask[changes.Report](ctx, r, changesPath+"/"+url.PathEscape(id), url.Values{})
}

// Handle implements [changes.Source]. The daemon determines the user from the credentials.
func (r *Remote) Handle(ctx context.Context, id string, h changes.Handling, _ string) (out changes.Item, err error) {
	text, err := json.Marshal(h)
	if err != nil {
		return out, err
	}
	body, _, err := r.send(ctx, http.MethodPost, changesPath+"/"+url.PathEscape(id), url.Values{}, text)
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(body, &out); err != nil {
		return out, fmt.Errorf("daemon's response: %w", err)
	}
	return out, nil
}
