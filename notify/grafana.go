package notify

import (
	"context"
	"encoding/json"
	"html"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// maxTag is the maximum length of a tag: Grafana stores 100 characters.
const maxTag = 100

// annotation is the body of POST /api/annotations. Times are in ms.
type annotation struct {
	Time    int64    `json:"time"`
	TimeEnd int64    `json:"timeEnd,omitempty"`
	Tags    []string `json:"tags"`
	Text    string   `json:"text"`
}

// sendAnnotation adds an annotation at the beginning of a change, and extends it to the end once
// that is known. If the receipt of the first one is unknown, the end becomes a second annotation.
func sendAnnotation(ctx context.Context, l *line, b Batch) Result {
	d := b.Due[0]
	to := strings.TrimSuffix(l.channel.Target, "/") + "/api/annotations"
	a := annotationOf(d.Message)
	if id, err := strconv.ParseInt(d.Receipt, 10, 64); err == nil && d.Message.Event == Resolved {
		r, err := l.do(ctx, http.MethodPatch, to+"/"+strconv.FormatInt(id, 10), l.bearer(), a)
		out := l.judged(r, err)
		if r.status != http.StatusNotFound { // it was deleted in Grafana
			out.Receipt = d.Receipt
			return out
		}
	}
	r, err := l.do(ctx, http.MethodPost, to, l.bearer(), a)
	out := l.judged(r, err)
	var made struct {
		ID int64 `json:"id"`
	}
	if out.Outcome == Accepted && json.Unmarshal(r.body, &made) == nil && made.ID > 0 {
		out.Receipt = strconv.FormatInt(made.ID, 10)
	}
	return out
}

func annotationOf(m Message) annotation {
	a := annotation{Time: m.Begin.UnixMilli(), Tags: []string{"fieldtrie", string(m.Event)}}
	if !m.End.IsZero() && m.End.After(m.Begin) {
		a.TimeEnd = m.End.UnixMilli()
	}
	for _, name := range slices.Sorted(maps.Keys(m.Labels)) {
		a.Tags = append(a.Tags, cut(name+":"+m.Labels[name], maxTag))
	}
	// Grafana shows texts as HTML and removes dangerous elements.
	lines := []string{"<b>" + html.EscapeString(withEvent(m)) + "</b>"}
	for _, text := range m.Lines {
		lines = append(lines, html.EscapeString(text))
	}
	if m.Link != "" {
		lines = append(lines, `<a href="`+html.EscapeString(m.Link)+`">Open in Fieldtrie</a>`)
	}
	a.Text = strings.Join(lines, "<br/>\n")
	return a
}
