package api

import (
	"context"
	"fmt"
	"html/template"
	"net/http"
	"net/url"

	"github.com/fieldtrie/fieldtrie/encode/formats"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/selection"
)

// respondPprof serves go tool pprof, which adds the parameter seconds, the duration to profile. It
// has no meaning here.
func respondPprof(ctx context.Context, h *handler, p *parameters) (response, error) {
	sel := p.selection()
	if !p.Has("group_by") {
		sel.GroupBy = selection.AllGroups() // as tags
	}
	format, err := formats.Writer("pprof")
	if p.fail(err); p.err != nil {
		return response{}, p.err
	}
	a, err := profileResponse(ctx, h, sel, format, 0)
	if err != nil {
		return response{}, err
	}
	a.header["Content-Disposition"] = `attachment; filename="profile.pb.gz"`
	return a, nil
}

// pprofIndex serves a page with links to the profiles of all pages.
var pprofIndex = template.Must(template.New("index").Parse(`<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><title>Profiles</title>
<style>:root { color-scheme: light dark } body { font: 16px/1.5 system-ui; max-width: 60rem; margin: 2rem auto; ` +
	`padding: 0 1rem }
table { border-collapse: collapse } td, th { padding: .2rem 1rem .2rem 0; text-align: left } td:nth-child(2) { ` +
	`text-align: right }
code { font-size: .9em; overflow-wrap: anywhere }</style>
<h1>Profiles</h1>
<p>Open one with <code>go tool pprof -http=: '{{.Base}}profile?page=/feed&amp;since=24h'</code>.
Two of them: <code>go tool pprof -diff_base '{{.Base}}profile?release=A' '{{.Base}}profile?release=B'</code>.
Parameters are page, feature, release, label (label=device=mobile-low, also !=, =~ and !~), since, until and ` +
	`group_by.</p>
<table><tr><th>page<th>traces<th>last
{{range .Pages}}<tr><td><a href="{{.Link}}">{{.Shown}}</a><td>{{.Traces}}<td>{{.Last.Format "2006-01-02 15:04:05"}}
{{else}}<tr><td colspan="3">Nothing was received in this time.
{{end}}</table>
</html>
`))

func respondPprofIndex(ctx context.Context, h *handler, p *parameters) (response, error) {
	since, until, err := parseTimes(p.Values, "", p.now)
	if p.fail(err); p.err != nil {
		return response{}, p.err
	}
	catalog, err := h.src.Catalog(ctx, since, until, p.lag)
	if err != nil {
		return response{}, err
	}
	type row struct {
		query.Entry
		Link  template.URL // from escaped parts
		Shown string
	}
	var rows []row
	for _, e := range catalog.Pages() {
		v := url.Values{"page": {e.Page}}
		setTimes(v, "", since, until)
		rows = append(rows, row{e, template.URL("profile?" + v.Encode()), output.Printable(e.Page)})
	}
	header := map[string]string{"Content-Security-Policy": policy}
	return response{media: "text/html; charset=utf-8", header: header, age: catalog.Age,
		write: func(w http.ResponseWriter) error {
			if err := pprofIndex.Execute(w, map[string]any{"Base": "http://HOST/pprof/", "Pages": rows}); err != nil {
				return fmt.Errorf("write index: %w", err)
			}
			return nil
		}}, nil
}
