package notify

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	gmhtml "github.com/yuin/goldmark/renderer/html"
)

// The expected signature is from the tests of the Standard Webhooks library.
func TestSign(t *testing.T) {
	h, err := sign(signingSecret+"\n"+signingSecret, "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0),
		[]byte(`{"test": 2432232314}`))
	if err != nil {
		t.Fatal(err)
	}
	const one = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	if h.Get("webhook-signature") != one+" "+one || h.Get("webhook-timestamp") != "1614265330" ||
		h.Get("webhook-id") != "msg_p5jXN8AQM9LWM0D4loKWxJek" {
		t.Errorf("got %v", h)
	}
}

func TestWebhook(t *testing.T) {
	var got request
	c := hook(receiver(t, func(w http.ResponseWriter, r request) { got = r }))
	for _, m := range hostileMessages() {
		if r := (&Sender{}).Send(t.Context(), one(c, m)); r.Outcome != Accepted {
			t.Fatalf("got %+v", r)
		}
		var body webhookBody[webhookMessage]
		strict := json.NewDecoder(strings.NewReader(got.body))
		strict.DisallowUnknownFields()
		if err := strict.Decode(&body); err != nil {
			t.Fatalf("%v in %s", err, got.body)
		}
		if body.Type != "change."+string(m.Event) || body.Data.ID != m.ID || got.Header.Get("Webhook-Id") != m.ID ||
			got.Header.Get("Content-Type") != "application/json" || *body.Data.Milliseconds != 12.5 {
			t.Errorf("got %s", got.body)
		}
	}
	many := Batch{ID: "digest-1", Channel: c}
	for i := range maxDigest + 5 {
		many.Due = append(many.Due, Due{Message: Message{ID: fmt.Sprint(i)}})
	}
	if r := (&Sender{}).Send(t.Context(), many); r.Outcome != Accepted {
		t.Fatalf("got %+v", r)
	}
	var body webhookBody[webhookDigest]
	if err := json.Unmarshal([]byte(got.body), &body); err != nil || body.Type != "digest" ||
		len(body.Data.Messages) != maxDigest || body.Data.More != 5 {
		t.Errorf("got %v, %s", err, got.body)
	}
	if r := (&Sender{}).Send(t.Context(), TestBatch(c, time.Now())); r.Outcome != Accepted ||
		!strings.Contains(got.body, `"type":"test"`) {
		t.Errorf("got %+v, %s", r, got.body)
	}
}

func TestSlack(t *testing.T) {
	text, err := os.ReadFile("testdata/slack.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema openapi3.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	var got request
	c := &Channel{Name: "c", Kind: Slack, AllowPrivate: true}
	c.secret.text = receiver(t, func(w http.ResponseWriter, r request) { got = r; fmt.Fprint(w, "ok") }) + "/services/x"
	valid := func(b Batch) error {
		t.Helper()
		if r := (&Sender{}).Send(t.Context(), b); r.Outcome != Accepted || r.Answer != "200 OK: ok" {
			t.Fatalf("got %+v", r)
		}
		var v any
		if err := json.Unmarshal([]byte(got.body), &v); err != nil {
			t.Fatal(err)
		}
		return schema.VisitJSON(v)
	}
	all := Batch{ID: "d", Channel: c}
	for _, m := range append(hostileMessages(), Message{Title: "x",
		Lines: slices.Repeat([]string{strings.Repeat("<", 9999)}, 100)}) {
		all.Due = append(all.Due, Due{Message: m})
		if err := valid(one(c, m)); err != nil {
			t.Errorf("%v in %s", err, got.body)
		}
	}
	if err := valid(all); err != nil || !strings.Contains(got.body, "more") {
		t.Errorf("%v in %s", err, got.body)
	}
	all.Due = all.Due[:49]
	if err := valid(all); err != nil || strings.Contains(got.body, "more") ||
		strings.Count(got.body, `"section"`) != 49 {
		t.Errorf("%v in %s", err, got.body)
	}
	// A schema that accepts everything would test nothing.
	for _, wrong := range []string{`{"text":"<!here>","blocks":[{"type":"divider"}]}`,
		`{"text":"x","blocks":[{"type":"section","text":{"type":"mrkdwn","text":"<!here>","verbatim":true}}]}`,
		`{"text":"x","blocks":[]}`,
		`{"text":"x","blocks":[{"type":"header","text":{"type":"plain_text","text":"` + strings.Repeat("x",
			151) + `"}}]}`} {
		var v any
		if err := json.Unmarshal([]byte(wrong), &v); err != nil || schema.VisitJSON(v) == nil {
			t.Errorf("%s is accepted", wrong)
		}
	}
}

func TestAlertmanager(t *testing.T) {
	var got request
	target := receiver(t, func(w http.ResponseWriter, r request) { got = r })
	c := &Channel{Name: "c", Kind: Alertmanager, Target: target + "/prefix/", AllowPrivate: true, User: "u",
		secret: source{text: "p"}}
	now := time.Date(2026, 5, 1, 12, 30, 0, 0, time.UTC)
	s := Sender{Now: func() time.Time { return now }}
	for _, m := range hostileMessages() {
		if r := s.Send(t.Context(), one(c, m)); r.Outcome != Accepted {
			t.Fatalf("got %+v", r)
		}
		user, password, _ := got.BasicAuth()
		if got.URL.Path != "/prefix/api/v2/alerts" || got.Method != http.MethodPost || user != "u" || password != "p" {
			t.Errorf("got %s %s by %s", got.Method, got.URL, user)
		}
		var alerts []postedAlert
		if err := json.Unmarshal([]byte(got.body), &alerts); err != nil || len(alerts) != 1 {
			t.Fatalf("%v in %s", err, got.body)
		}
		a := alerts[0]
		end := now.Add(4 * time.Minute)
		if m.Event == Resolved {
			end = m.End
		}
		if !a.StartsAt.Equal(m.Begin) || !a.EndsAt.Equal(end) || a.Labels["alertname"] != "FieldtrieChange" ||
			a.Labels["change"] != m.Change || strings.ContainsAny(fmt.Sprint(a), "<>") {
			t.Errorf("got %+v", a)
		}
	}
	// Alertmanager rejects an alert that begins after its end.
	for _, m := range []Message{{Event: Found, Begin: now.Add(time.Hour)}, {Event: Resolved, Begin: now,
		End: now.Add(-time.Hour)}, {Event: Resolved, Begin: now}} {
		if a := alertOf(m, now); a.StartsAt.After(a.EndsAt) || m.Event == Resolved && a.EndsAt.After(now) {
			t.Errorf("got %+v", a)
		}
	}
}

// elements matches the HTML elements in notifications.
var elements = regexp.MustCompile(`^(b|br|a|p|h3|html|body|strong|div)$`)

// textOf returns the text and the links of an HTML fragment, which must contain only these
// elements.
func textOf(t *testing.T, piece string) (text string, links []string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader("<div>" + strings.TrimPrefix(piece, "<!DOCTYPE html>") + "</div>"))
	var b strings.Builder
	for {
		tok, err := d.Token()
		if err == io.EOF {
			return b.String(), links
		}
		if err != nil {
			t.Fatalf("%v in %s", err, piece)
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			if !elements.MatchString(tok.Name.Local) {
				t.Fatalf("element %s in %s", tok.Name.Local, piece)
			}
			for _, a := range tok.Attr {
				if tok.Name.Local != "a" || a.Name.Local != "href" {
					t.Fatalf("attribute %s of %s in %s", a.Name.Local, tok.Name.Local, piece)
				}
				links = append(links, a.Value)
			}
		case xml.CharData:
			b.Write(tok)
		}
	}
}

func TestGrafana(t *testing.T) {
	type call struct {
		method, path string
		a            annotation
	}
	var calls []call
	missing := false
	target := receiver(t, func(w http.ResponseWriter, r request) {
		var a annotation
		strict := json.NewDecoder(strings.NewReader(r.body))
		strict.DisallowUnknownFields()
		if err := strict.Decode(&a); err != nil || r.Header.Get("Authorization") != "Bearer glsa_x" {
			t.Errorf("%v in %s", err, r.body)
		}
		calls = append(calls, call{r.Method, r.URL.Path, a})
		if r.Method == http.MethodPatch && missing {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		fmt.Fprintf(w, `{"message":"Annotation added","id":%d}`, 40+len(calls))
	})
	c := &Channel{Name: "g", Kind: Grafana, Target: target, AllowPrivate: true, secret: source{text: "glsa_x"}}
	for _, m := range hostileMessages() {
		calls = nil
		b := one(c, m)
		if r := (&Sender{}).Send(t.Context(), b); r.Outcome != Accepted || r.Receipt != "41" {
			t.Fatalf("got %+v", r)
		}
		a := calls[0].a
		text, links := textOf(t, a.Text)
		if want := cleaned(m); !strings.HasPrefix(text, withEvent(want)) || a.Time != m.Begin.UnixMilli() ||
			(a.TimeEnd != 0) != (m.Event == Resolved) || m.Event == Found && !slices.Equal(links, []string{m.Link}) {
			t.Errorf("got %+v, text %q", a, text)
		}
		for _, tag := range a.Tags {
			if len(tag) > maxTag {
				t.Errorf("tag %q is too long", tag)
			}
		}
	}
	// The end of a change updates the annotation of its beginning, if that is known and still
	// exists.
	m := Message{ID: "r", Event: Resolved, Begin: time.Unix(1000, 0), End: time.Unix(2000, 0)}
	for _, test := range []struct {
		receipt, want string
		missing       bool
	}{{"7", "PATCH /api/annotations/7", false}, {"7", "PATCH /api/annotations/7, POST /api/annotations", true},
		{"", "POST /api/annotations", false}, {"../x", "POST /api/annotations", false}} {
		calls, missing = nil, test.missing
		b := one(c, m)
		b.Due[0].Receipt = test.receipt
		if r := (&Sender{}).Send(t.Context(), b); r.Outcome != Accepted || r.Receipt == "" {
			t.Errorf("got %+v", r)
		}
		var got []string
		for _, c := range calls {
			got = append(got, c.method+" "+c.path)
		}
		if strings.Join(got, ", ") != test.want || calls[len(calls)-1].a.TimeEnd != 2_000_000 {
			t.Errorf("got %v, want %s", got, test.want)
		}
	}
}

// gitHub simulates a repository and checks requests against GitHub's description of its API.
func gitHub(t *testing.T) (target string, calls *[]request) {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromFile("testdata/github.openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	calls = new([]request)
	var handle func(w http.ResponseWriter, r request)
	target = receiver(t, func(w http.ResponseWriter, r request) { handle(w, r) })
	doc.Servers = openapi3.Servers{{URL: target + "/api/v3"}}
	router, err := legacy.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	handle = func(w http.ResponseWriter, r request) {
		*calls = append(*calls, r)
		r.URL.Scheme, r.URL.Host = "http", r.Host
		r.Body = io.NopCloser(strings.NewReader(r.body))
		route, params, err := router.FindRoute(r.Request)
		if err != nil {
			t.Errorf("%s %s: %v", r.Method, r.URL, err)
			w.WriteHeader(http.StatusNotFound)
			return
		}
		if err := openapi3filter.ValidateRequest(t.Context(), &openapi3filter.RequestValidationInput{Request: r.Request,
			PathParams: params, Route: route}); err != nil {
			t.Errorf("%s %s: %v", r.Method, r.URL, err)
			w.WriteHeader(http.StatusUnprocessableEntity)
			return
		}
		if r.Header.Get("Authorization") != "Bearer ghp_x" || r.Header.Get("Accept") != "application/vnd.github+json" ||
			r.Header.Get("X-Github-Api-Version") != "2022-11-28" || r.Header.Get("User-Agent") == "" {
			t.Errorf("got headers %v", r.Header)
		}
		switch {
		case r.Method == http.MethodGet:
			fmt.Fprint(w, `[{"sha":"abcdef0123456789abcdef0123456789abcdef01"}]`)
		case r.Method == http.MethodPost:
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, `{"id":1,"number":17}`)
		}
	}
	return target, calls
}

func TestGitHub(t *testing.T) {
	target, calls := gitHub(t)
	issues := &Channel{Name: "i", Kind: GitHub, Target: target + "/acme/shop", API: target + "/api/v3", As: asIssue,
		AllowPrivate: true, secret: source{text: "ghp_x"}}
	comments := *issues
	comments.As = asComment
	said := func() string {
		var out []string
		for _, r := range *calls {
			out = append(out, r.Method+" "+strings.TrimPrefix(r.URL.Path, "/api/v3/repos/acme/shop"))
		}
		*calls = nil
		return strings.Join(out, ", ")
	}
	m := Message{ID: "x", Event: Found, Change: "c1", Title: "slower",
		Commit: "0123456789abcdef0123456789abcdef01234567"}
	resolved := m
	resolved.Event = Resolved
	for _, test := range []struct {
		b                      Batch
		receipt, want, receive string
	}{
		{one(issues, m), "", "POST /issues", "17"},
		{one(issues, resolved), "17", "PATCH /issues/17, POST /issues/17/comments", "17"},
		{one(issues, resolved), "", "", ""},
		{one(issues, resolved), "../1", "", ""},
		{TestBatch(issues, time.Now()), "", "POST /issues, PATCH /issues/17, POST /issues/17/comments", "17"},
		{one(&comments, m), "", "POST /commits/" + m.Commit + "/comments", ""},
		{one(&comments, resolved), "", "POST /commits/" + m.Commit + "/comments", ""},
		{TestBatch(&comments, time.Now()), "",
			"GET /commits, POST /commits/abcdef0123456789abcdef0123456789abcdef01/comments", ""},
	} {
		test.b.Due[0].Receipt = test.receipt
		r := (&Sender{}).Send(t.Context(), test.b)
		if got := said(); r.Outcome != Accepted || got != test.want || r.Receipt != test.receive {
			t.Errorf("%s of %s: got %+v, %s, want %s", test.b.Due[0].Message.Event, test.b.Channel.As, r,
				got, test.want)
		}
	}
	if r := (&Sender{}).Send(t.Context(), one(&comments, Message{ID: "x", Event: Found})); r.Outcome != Refused ||
		!strings.Contains(r.Answer, "--commit") {
		t.Errorf("got %+v", r)
	}
	for _, m := range hostileMessages() {
		if r := (&Sender{}).Send(t.Context(), one(issues, m)); r.Outcome != Accepted {
			t.Errorf("got %+v", r)
		}
	}
}

// References that GitHub would link in the rendered text.
var linked = regexp.MustCompile(`(?i)(^|[^\w])@\w|#\d|gh-\d|https?://\w`)

// A Markdown renderer must find nothing but text in escaped data.
func TestMarkdown(t *testing.T) {
	md := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(gmhtml.WithXHTML()))
	for _, m := range hostileMessages() {
		c := cleaned(m)
		var b bytes.Buffer
		if err := md.Convert([]byte(markdownOf(c, true)), &b); err != nil {
			t.Fatal(err)
		}
		text, links := textOf(t, b.String())
		if linked.MatchString(text) {
			t.Errorf("%q has a link", text)
		}
		want := append([]string{withEvent(c)}, c.Lines...)
		want = append(want, labelText(c))
		if c.Link != "" {
			want = append(want, "Open in Fieldtrie")
		}
		if got := strings.Fields(strings.ReplaceAll(text, "\u2060", "")); !slices.Equal(got,
			strings.Fields(strings.Join(want, "\n"))) {
			t.Errorf("got %q, want %q", got, want)
		}
		if c.Link != "" && (len(links) != 1 || links[0] != html.UnescapeString(c.Link)) || c.Link == "" &&
			len(links) > 0 {
			t.Errorf("links %q, want %q", links, c.Link)
		}
	}
}
