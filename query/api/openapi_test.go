package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/test/fixture"

	"github.com/getkin/kin-openapi/openapi3"
)

func description(t *testing.T) *openapi3.T {
	t.Helper()
	data, err := os.ReadFile("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context(), openapi3.EnableExamplesValidation()); err != nil {
		t.Fatal(err)
	}
	return doc
}

// The description has exactly the paths that are served, with exactly their parameters.
func TestOpenAPIPaths(t *testing.T) {
	doc := description(t)
	described := doc.Paths.Map()
	for path, e := range endpoints() {
		path = strings.TrimSuffix(path, "{$}")
		item := described[path]
		if item == nil || item.Get == nil {
			t.Errorf("%s is not described", path)
			continue
		}
		delete(described, path)
		var names []string
		for _, p := range item.Get.Parameters {
			names = append(names, p.Value.Name)
		}
		want := slices.Sorted(slices.Values(e.parameters))
		if slices.Sort(names); !slices.Equal(names, want) {
			t.Errorf("%s: described: %v, accepted: %v", path, names, want)
		}
	}
	delete(described, "/api/v1/openapi.yaml")
	delete(described, "/api/v1/answers")  // served by Together
	delete(described, "/api/v1/arrivals") // served by cmd/ingest, whose tests check it
	delete(described, "/api/v1/budgets")  // served by package budget, whose tests check it
	for path := range described {         // served by Changes, see TestChanges
		if strings.HasPrefix(path, changesPath) {
			delete(described, path)
		}
	}
	for path := range described {
		t.Errorf("%s is described, but not served", path)
	}
	formats := doc.Components.Parameters["format"].Value.Schema.Value.Enum
	for i, name := range profileFormats() {
		if i >= len(formats) || formats[i] != name {
			t.Errorf("formats: described: %v, accepted: %v", formats, profileFormats())
			break
		}
	}
}

// Responses match their description: each field has the described type, and none is missing.
func TestOpenAPIAnswers(t *testing.T) {
	doc := description(t)
	l, _ := rolledField(t, 600)
	template := func() ([]byte, error) { return []byte("<title>%TITLE%</title>%DATA%"), nil }
	h := Handler(l, Options{Now: fixture.Now, ProfileFile: template})
	selected := "page=/feed&since=7d"
	views, err := l.Views(t.Context(), query.ViewsQuery{Selection: selection.Selection{Page: "/feed"}})
	if err != nil || len(views.List) == 0 {
		t.Fatalf("views: %+v, %v", views, err)
	}
	for _, target := range []string{
		"/api/v1/view?id=" + views.List[0].ID,
		"/api/v1/pages?", "/api/v1/pages?label=device=~mobile.*", "/api/v1/features?" + selected, "/api/v1/releases?" +
			selected, "/api/v1/coverage?", "/api/v1/coverage?page=/nowhere",
		"/api/v1/labels?" + selected, "/api/v1/labels?key=device", "/api/v1/catalog?", "/api/v1/newest?",
		"/api/v1/browsers?" + selected, "/api/v1/browsers?page=/nowhere", "/api/v1/browsers?label=visibility=hidden",
		"/api/v1/newest?page=/feed&release=r1", "/api/v1/newest?page=/nowhere",
		"/api/v1/series?" + selected, "/api/v1/series?" + selected + "&group_by=feature,device&step=3h&histogram=true",
		"/api/v1/series?step=all&coverage=true",
		"/api/v1/series?" + selected + "&by=owner&step=1h", "/api/v1/series?by=function&limit=0",
		"/api/v1/series?only=app&by=team",
		"/api/v1/views?" + selected, "/api/v1/views?page=/nowhere", "/api/v1/views?quantiles=2", "/api/v1/view?id=x",
		"/api/v1/view?id=" + strings.Repeat("0", 32),
		"/api/v1/series?" + selected + "&label=visibility=hidden", "/api/v1/series?" + selected + "&step=10m",
		"/api/v1/stats?" + selected, "/api/v1/vitals?group_by=device&release=r1", "/api/v1/cost?page=/feed&since=24h",
		"/api/v1/top?" + selected + "&limit=2", "/api/v1/top?sort=reach&label=device=mobile-low",
		"/api/v1/tree?" + selected, "/api/v1/tree?compare_release=r1&release=r2&max_nodes=1",
		"/api/v1/callers?name=render", "/api/v1/callees?name=main&line=7",
		"/api/v1/tree?page=/nowhere", "/api/v1/tree?page=/nowhere&compare_page=/x", "/api/v1/callers?name=nobody",
		"/api/v1/callees?page=/nowhere&name=nobody", "/api/v1/top?page=/nowhere",
		"/api/v1/compare?release=r2&compare_release=r1", "/api/v1/compare?release=r2&compare_release=r9&method=sums",
		"/api/v1/compare?page=/x&compare_page=/y",
		"/api/v1/edits?release=r2&compare_release=r1",
		"/api/v1/edits?release=r2&compare_release=r1&page=/feed&since=7d", "/api/v1/edits?release=r2",
		"/api/v1/profile?format=json", "/api/v1/profile?format=svg", "/api/v1/profile?format=html",
		"/api/v1/profile?format=csv&rows=3", "/api/v1/profile?", "/api/v1/profile?format=folded",
		"/pprof/profile?page=/feed&since=24h&seconds=30", "/pprof/?",
		"/api/v1/pages?pge=x", "/api/v1/tree?root=xyz", "/api/v1/tree?root=0123456789abcdef", "/api/v1/callers?",
		"/api/v1/compare?", "/api/v1/series?step=1s&since=300d",
		"/api/v1/series?label=navigation=reload", "/api/v1/stats?label=visibility=hidden",
		"/api/v1/vitals?label=phase=load", "/api/v1/vitals?feature=edit", "/api/v1/top?limit=0",
		"/api/v1/top?sort=name", "/api/v1/series?histogram=si",
		"/api/v1/pages?label=page=~(", "/api/v1/series?step=-1h", "/api/v1/compare?compare_release=x&method=guess",
		"/api/v1/pages?since=tomorrow",
	} {
		u, err := url.Parse(target)
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
		response := doc.Paths.Value(u.Path).Get.Responses.Status(w.Code)
		if response == nil {
			t.Errorf("%s: status %d is not described: %s", target, w.Code, w.Body)
			continue
		}
		media, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";")
		content := response.Value.Content.Get(media)
		if content == nil {
			t.Errorf("%s: %s is not described", target, media)
			continue
		}
		if w.Code == http.StatusOK && w.Header().Get("ETag") == "" {
			t.Errorf("%s: no ETag", target)
		}
		if media != "application/json" {
			continue
		}
		d := json.NewDecoder(bytes.NewReader(w.Body.Bytes()))
		var v any
		if err := d.Decode(&v); err != nil {
			t.Errorf("%s: %v", target, err)
		} else if err := content.Schema.Value.VisitJSON(v, openapi3.MultiErrors()); err != nil {
			t.Errorf("%s: %v\n%.500s", target, err, w.Body)
		}
	}
}
