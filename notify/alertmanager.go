package notify

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Alertmanager forgets alerts that are not repeated, and all alerts when it restarts. Prometheus
// repeats alerts each minute, with an end time four repeats ahead.
const (
	repeatEvery = time.Minute
	holdsFor    = 4 * repeatEvery
)

// postedAlert is an alert in a request to POST /api/v2/alerts.
type postedAlert struct {
	Labels       map[string]string `json:"labels"`
	Annotations  map[string]string `json:"annotations"`
	StartsAt     time.Time         `json:"startsAt"`
	EndsAt       time.Time         `json:"endsAt"`
	GeneratorURL string            `json:"generatorURL,omitempty"`
}

// Repeats returns batches to send again: for each Alertmanager channel, the messages about changes
// that are still open. last is the time of the last repeat by name of the channel. Callers should
// call it about once a minute, on any number of nodes. Results of repeats need not be stored, since
// the next repeat follows anyway.
func (f *File) Repeats(open []Message, last map[string]time.Time, now time.Time) (batches []Batch) {
	for i := range f.Channels {
		c := &f.Channels[i]
		if c.Kind != Alertmanager || now.Sub(last[c.Name]) < repeatEvery {
			continue
		}
		b := Batch{ID: "repeat-" + c.Name, Channel: c}
		for _, m := range open {
			if m.Event == Found && c.Wants(m) {
				b.Due = append(b.Due, Due{Message: m, Channel: c.Name, Since: now})
			}
		}
		if len(b.Due) > 0 {
			batches = append(batches, b)
		}
	}
	return batches
}

func sendAlerts(ctx context.Context, l *line, b Batch) Result {
	alerts := make([]postedAlert, len(b.Due))
	for i, d := range b.Due {
		alerts[i] = alertOf(d.Message, l.now)
	}
	header := l.bearer()
	if l.channel.User != "" {
		r := http.Request{Header: http.Header{}}
		r.SetBasicAuth(l.channel.User, l.channel.secret.text)
		header = r.Header
	}
	return l.judged(l.do(ctx, http.MethodPost, strings.TrimSuffix(l.channel.Target, "/")+"/api/v2/alerts",
		header, alerts))
}

func alertOf(m Message, now time.Time) postedAlert {
	a := postedAlert{Labels: map[string]string{}, Annotations: map[string]string{"summary": unmarked(m.Title)},
		StartsAt: m.Begin, EndsAt: now.Add(holdsFor), GeneratorURL: m.Link}
	for _, name := range slices.Sorted(maps.Keys(m.Labels)) {
		a.Labels[name] = unmarked(m.Labels[name])
	}
	a.Labels["alertname"], a.Labels["change"] = "FieldtrieChange", cmp.Or(token(m.Change), m.ID)
	if m.Event == Test {
		a.Labels["alertname"] = "FieldtrieTest"
	}
	if text := strings.Join(m.Lines, "\n"); text != "" {
		a.Annotations["description"] = unmarked(text)
	}
	if m.Event == Resolved {
		a.EndsAt = now
		if !m.End.IsZero() && m.End.Before(now) {
			a.EndsAt = m.End
		}
	}
	if a.StartsAt.After(a.EndsAt) {
		a.StartsAt = a.EndsAt
	}
	return a
}

// unmarked replaces characters that start mentions in Slack: templates of Alertmanager pass texts
// to Slack unescaped.
func unmarked(text string) string { return unmark.Replace(text) }

var unmark = strings.NewReplacer("<", "‹", ">", "›")
