package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/changes"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/watch"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/test/fixture"

	"github.com/getkin/kin-openapi/openapi3"
)

// document is a [store.Document] in memory.
type document struct {
	content []byte
	version int
}

func (d *document) Load(context.Context) ([]byte, string, error) {
	if d.version == 0 {
		return nil, "", nil
	}
	return d.content, fmt.Sprint(d.version), nil
}

func (d *document) Save(ctx context.Context, content []byte, version string) (string, error) {
	if _, is, _ := d.Load(ctx); is != version {
		return "", store.ErrReplaced
	}
	d.content = content
	d.version++
	return fmt.Sprint(d.version), nil
}

func (d *document) Quarantine(context.Context, string) (string, error) {
	return "", errors.New("nothing is damaged")
}

// days is a [watch.Observer] with some days of each page.
type days struct{ watch.Observer }

func (days) Days(_ context.Context, _ string, since, until time.Time) (out []watch.Day, err error) {
	for at := since; at.Before(until); at = at.Add(24 * time.Hour) {
		f := compare.Function{Self: []compare.Amount{{Seen: 90, Sum: 200, Squares: 700}}}
		f.Frame.Name, f.Frame.Resource = "formatPrice", "https://shop.test/app.js"
		out = append(out, watch.Day{Day: at, Views: 100, Time: compare.Amount{Seen: 100, Sum: 9000, Squares: 1e6},
			Functions: []compare.Function{f}})
	}
	return out, nil
}

func known(low, value, high float64) compare.Estimate {
	return compare.Estimate{Value: value, Low: &low, High: &high}
}

// foundChanges returns two changes: one of a function on /shop and /feed, with all fields set, and
// one of the INP of /feed.
func foundChanges() []watch.Change {
	at := fixture.Now().Add(-48 * time.Hour).UTC()
	place := &compare.Place{Name: "formatPrice", Resource: "https://shop.test/app.js", Line: 12, Column: 3}
	what := watch.What{Kind: watch.OfFunction, Metric: "self", Function: place}
	beside, share := known(110, 150, 190), known(0.7, 0.9, 1)
	page := func(name string) watch.PageChange {
		return watch.PageChange{Page: name, Views: compare.Pair{A: 900, B: 1000}, ViewsADay: 20000,
			Value:  compare.Pair{A: 40, B: 200},
			Change: known(112, 160, 208), Beside: &beside, Level: 0.999, Relative: new(4.0)}
	}
	one := watch.Change{ID: "00000000000000a1", State: watch.Open, Direction: watch.Slower, What: what,
		Detector: watch.ByRelease, Release: "2.1", CompareRelease: "2.0",
		Begin: at, Found: at.Add(5 * time.Hour), Checked: at.Add(9 * time.Hour),
		Pages: []watch.PageChange{page("/shop"), page("/feed")},
		Consequences: []watch.Consequence{{Page: "/shop", What: watch.What{Kind: watch.OfVital, Metric: "inp"},
			Change: known(1, 2, 3)}, {Page: "/feed", What: watch.What{Kind: watch.OfPage, Metric: "js"},
			Change: known(1, 2, 3)}},
		Moved: []watch.Consequence{{Page: "/shop", What: what, Change: known(-3, -2, -1)}},
		Causes: []watch.Cause{{Kind: watch.CauseEdited, Text: "formatPrice was edited", Function: place,
			Link: "https://git.test/a", Share: &share,
			Label: &watch.Label{Key: "browser", Value: "Chrome 150"}, Resource: "r", Package: "p", Before: "1",
			After:   "2",
			Commits: []watch.Commit{{SHA: "abc", Author: "A", Title: "T", URL: "https://git.test/c"}}}}}
	two := watch.Change{ID: "00000000000000b2", State: watch.Resolved, Direction: watch.Faster,
		What: watch.What{Kind: watch.OfVital, Metric: "inp"}, Detector: watch.ByTime,
		Begin: at, Found: at, Checked: at, Resolved: at.Add(time.Hour), Resolution: watch.Back,
		CausesNote: "no edited function explains this",
		Pages: []watch.PageChange{{Page: "/feed", Change: compare.Estimate{Value: -20},
			Value: compare.Pair{A: 90, B: 70}}}}
	return []watch.Change{one, two}
}

func boardWith(t *testing.T, list ...watch.Change) *changes.Board {
	t.Helper()
	r := changes.NewRegister()
	r.Changes, r.Evaluated = list, fixture.Now().UTC()
	text, err := r.Encode(fixture.Now())
	if err != nil {
		t.Fatal(err)
	}
	return changes.NewBoard(&document{text, 1}, days{}, watch.Settings{}, changes.BoardOptions{Now: fixture.Now,
		Releases: func(context.Context, string, time.Time, time.Time) ([]changes.Release, error) {
			return []changes.Release{{Release: "2.1", Begin: fixture.Now().UTC()}}, nil
		}})
}

func changesHandlerOf(v changes.View) http.Handler {
	return Changes(v, func(*http.Request) string { return "token ci" }, Options{Now: fixture.Now})
}

func shopAlone() query.Pages {
	return query.Pages{Key: "shop", Takes: func(page string) bool { return page == "/shop" }}
}

// Responses match their description, for clients with permission for all pages and for some pages.
func TestChangesAsDescribed(t *testing.T) {
	doc := description(t)
	owner := func(c *watch.Change) (owner, team string) {
		if c.What.Function == nil {
			return "", ""
		}
		return "app", "pricing"
	}
	all := changesHandlerOf(changes.View{Board: boardWith(t, foundChanges()...), Owner: owner})
	shop := changesHandlerOf(changes.View{Board: boardWith(t, foundChanges()...), Pages: shopAlone()})
	one, two := changesPath+"/00000000000000a1", changesPath+"/00000000000000b2"
	for _, x := range []struct {
		h      http.Handler
		target string // with the method
		body   string
		status int
		has    string // the changes of the list, or a part of the response
	}{
		{all, "GET " + changesPath, "", 200, "a1 b2"},
		{all, "GET " + changesPath + "?limit=1", "", 200, `"more":1`},
		{all, "GET " + changesPath + "?page=/shop", "", 200, "a1"},
		{all, "GET " + changesPath + "?since=47h", "", 200, "a1"},
		{all, "GET " + changesPath + "?state=resolved,expected", "", 200, "b2"},
		{all, "GET " + changesPath + "?owner=pricing", "", 200, "a1"},
		{all, "GET " + changesPath + "?owner=nobody", "", 200, ""},
		{all, "GET " + changesPath + "?state=ended", "", 400, "none of open"},
		{all, "GET " + changesPath + "?limit=0", "", 400, "limit"},
		{all, "GET " + changesPath + "?pages=/a", "", 400, "unknown parameter"},
		{all, "GET " + changesPath + "?since=tomorrow", "", 400, "since"},
		{all, "GET " + one, "", 200, `"series":{"page":"/shop"`},
		{all, "GET " + two, "", 200, `"points":[]`},
		{all, "GET " + changesPath + "/00000000000000ff", "", 404, "there is no change"},
		{all, "GET " + changesPath + "/x", "", 400, "16 hexadecimal digits"},
		{all, "GET " + one + "?page=/a", "", 400, "unknown parameter"},
		{all, "DELETE " + one, "", 405, "GET, HEAD, POST"},
		{all, "POST " + changesPath, "", 405, "GET, HEAD"},
		{shop, "GET " + changesPath, "", 200, "a1"},
		{shop, "GET " + one, "", 200, `"series":{"page":"/shop"`},
		{shop, "GET " + two, "", 404, "there is no change"},
		{shop, "POST " + two, `{"state":"open"}`, 404, "there is no change"},
		{shop, "POST " + one, `{"state":"open"}`, 403, "also on pages"},
		{all, "POST " + one, `{"state":"acknowledged","note":"on it"}`, 200, `"by":"token ci"`},
		{all, "POST " + one, `{"state":"expected"}`, 400, "until"},
		{all, "POST " + one, `{"state":"expected","until":"2001-01-01T00:00:00Z"}`, 400,
			"not a time in the next 400 days"},
		{all, "POST " + one, `{"state":"gone"}`, 400, "none of open"},
		{all, "POST " + one, `{"state":"open","nte":"x"}`, 400, "unknown field"},
		{all, "POST " + one, `{"state":"open"} {}`, 400, "after the object"},
		{all, "POST " + one, `{"state":"open","note":"` + strings.Repeat("x", 20<<10) + `"}`, 400, "up to 16384 bytes"},
		{all, "POST " + two, `{"state":"acknowledged"}`, 400, "open it first"},
		{all, "POST " + two, `{"state":"open"}`, 200, `"state":"open"`},
		{all, "POST " + one, `{"state":"resolved"}`, 200, `"resolution":"by hand"`},
	} {
		method, target, _ := strings.Cut(x.target, " ")
		r := httptest.NewRequest(method, target, strings.NewReader(x.body))
		if x.body != "" {
			r.Header.Set("Content-Type", "application/json; charset=utf-8")
		}
		w := httptest.NewRecorder()
		x.h.ServeHTTP(w, r)
		got := w.Body.String()
		if w.Code == http.StatusOK && strings.HasPrefix(x.target, "GET "+changesPath) && !strings.Contains(x.target,
			changesPath+"/") && !strings.Contains(x.has, `"`) {
			got = idsOf(t, w.Body.Bytes())
			if got != x.has {
				t.Errorf("%s: got %q, want %q", x.target, got, x.has)
			}
		} else if !strings.Contains(got, x.has) {
			t.Errorf("%s %s: got %.300s, want %s in it", x.target, x.body, got, x.has)
		}
		if w.Code != x.status {
			t.Errorf("%s %s: status %d, want %d: %.200s", x.target, x.body, w.Code, x.status, got)
			continue
		}
		path, _, _ := strings.Cut(target, "?")
		if path != changesPath {
			path = changesPath + "/{id}"
		}
		checkDescribed(t, doc, method, path, w)
	}
	r := httptest.NewRequest(http.MethodPost, one, strings.NewReader(`{"state":"open"}`))
	r.Header.Set("Content-Type", "text/plain") // a form on another site can send this type
	w := httptest.NewRecorder()
	if all.ServeHTTP(w, r); w.Code != http.StatusBadRequest {
		t.Errorf("a body that is not JSON: %d", w.Code)
	}
}

// checkDescribed checks a response against the description of its path.
func checkDescribed(t *testing.T, doc *openapi3.T, method, path string, w *httptest.ResponseRecorder) {
	t.Helper()
	op := doc.Paths.Value(path).GetOperation(method)
	if op == nil { // methods that the path does not accept are described under GET
		op = doc.Paths.Value(path).Get
	}
	response := op.Responses.Status(w.Code)
	if response == nil {
		t.Errorf("%s %s: status %d is not described", method, path, w.Code)
		return
	}
	var v any
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Errorf("%s %s: %v", method, path, err)
	} else if err := response.Value.Content.Get("application/json").Schema.Value.VisitJSON(v,
		openapi3.MultiErrors()); err != nil {
		t.Errorf("%s %s: %v\n%.500s", method, path, err, w.Body)
	}
}

// idsOf returns the last two digits of the ids in a list.
func idsOf(t *testing.T, body []byte) string {
	t.Helper()
	var list changes.List
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&list); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, c := range list.Changes {
		ids = append(ids, c.ID[14:])
	}
	return strings.Join(ids, " ")
}

// A client with permission for one page gets neither the name of another page nor a cause that was
// searched there.
func TestChangesOfSomePages(t *testing.T) {
	c := foundChanges()[0]
	c.Pages[0], c.Pages[1] = c.Pages[1], c.Pages[0]
	for first, causes := range map[bool]bool{true: false, false: true} {
		list := foundChanges()[:1]
		if first {
			list = []watch.Change{c}
		}
		v := changes.View{Board: boardWith(t, list...), Pages: shopAlone()}
		got, err := v.Change(t.Context(), c.ID)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(got)
		if err != nil || strings.Contains(string(text), "/feed") || (len(got.Causes) > 0) != causes {
			t.Errorf("%v %s", err, text)
		}
	}
}

// A remote source returns the same changes as the daemon's board.
func TestRemoteChanges(t *testing.T) {
	v := changes.View{Board: boardWith(t, foundChanges()...)}
	server := httptest.NewServer(changesHandlerOf(v))
	defer server.Close()
	r, err := NewRemote(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []changes.Query{{}, {Limit: 1}, {Page: "/shop", Since: fixture.Now().Add(-47 * time.Hour)},
		{States: []watch.State{watch.Resolved, watch.Open}}, {Owner: "x"}} {
		got, err := r.Changes(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if want, err := v.Changes(t.Context(), q); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: got %+v, want %+v, %v", q, got, want, err)
		}
	}
	got, err := r.Change(t.Context(), "00000000000000a1")
	if want, werr := v.Change(t.Context(), "00000000000000a1"); err != nil || werr != nil ||
		!reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v, %v", got, err, want, werr)
	}
	item, err := r.Handle(t.Context(), "00000000000000a1", changes.Handling{State: watch.Expected, Note: "a sale",
		Until: fixture.Now().Add(time.Hour)}, "")
	if err != nil || item.State != watch.Expected || item.Handled.By != "token ci" || item.Handled.Note != "a sale" {
		t.Errorf("%+v, %v", item, err)
	}
	if _, err := r.Change(t.Context(), "../../healthz"); err == nil {
		t.Error("an invalid id was sent to the daemon")
	}
}
