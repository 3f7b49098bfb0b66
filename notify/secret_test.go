package notify

import (
	"encoding/base64"
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// Stored answers contain no secret that a receiver repeats, in any encoding.
func TestSecretsInAnswers(t *testing.T) {
	const token, key = "glsa+TOKENTOKEN/abc==&x", "SLACKSECRETabcdefghijk"
	echo := func(status int, location func(r request) string, text func(r request) string) string {
		return receiver(t, func(w http.ResponseWriter, r request) {
			if location != nil {
				w.Header().Set("Location", location(r))
			}
			w.WriteHeader(status)
			if text != nil {
				_, _ = w.Write([]byte(text(r)))
			}
		})
	}
	jsonOf := func(text string) string {
		out, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(out), "/", `\/`)
	}
	authorization := func(r request) string { return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") }
	slack := func(base string) *Channel {
		return &Channel{Kind: Slack, secret: source{text: base + "/services/T0A/B0B/" + key}}
	}
	grafana := func(base string) *Channel { return &Channel{Kind: Grafana, Target: base, secret: source{text: token}} }
	for name, c := range map[string]struct {
		channel  func(base string) *Channel
		status   int
		location func(r request) string
		text     func(r request) string
		want     string // in the answer
	}{
		"redirect to TLS": {slack, 301, func(r request) string {
			return "https://hooks.example" + r.URL.Path
		}, nil, "301 Moved Permanently to https://hooks.example: redirects"},
		"redirect of one host": {slack, 302, func(r request) string {
			return r.URL.Path
		}, nil, "to another path: redirects"},
		"redirect with a user": {slack, 302, func(r request) string {
			return "https://u:" + key + "@hooks.example/"
		}, nil, "to https://hooks.example: redirects"},
		"path": {slack, 404, nil, func(r request) string {
			return "no " + r.URL.Path + " here"
		}, "404 Not Found: no (secret) here"},
		"last segment": {slack, 404, nil, func(request) string { return "no " + key }, "no (secret)"},
		"path in JSON": {slack, 404, nil, func(r request) string {
			return jsonOf("no " + r.URL.Path)
		}, `"no (secret)"`},
		"path in a query": {slack, 404, nil, func(r request) string {
			return "?to=" + url.QueryEscape(r.URL.Path)
		}, "?to=(secret)"},
		"whole URL": {slack, 404, nil, func(r request) string {
			return "no http://" + r.Host + r.URL.Path
		}, "no (secret)"},
		"token": {grafana, 500, nil, authorization, "500 Internal Server Error: (secret)"},
		"token in a URL": {grafana, 500, nil, func(r request) string {
			return url.QueryEscape(authorization(r))
		}, ": (secret)"},
		"token in a URL, small": {grafana, 500, nil, func(r request) string {
			return "glsa%2bTOKENTOKEN%2fabc%3d%3D&x"
		}, ": (secret)"},
		"token in a URL twice": {grafana, 500, nil, func(r request) string {
			return url.QueryEscape(url.QueryEscape(authorization(r)))
		}, ": (secret)"},
		"token in HTML": {grafana, 500, nil, func(r request) string {
			return html.EscapeString(authorization(r))
		}, ": (secret)"},
		"token in JSON": {grafana, 500, nil, func(r request) string {
			return jsonOf(authorization(r))
		}, `: "(secret)"`},
		"token in base64": {grafana, 500, nil, func(r request) string {
			return base64.StdEncoding.EncodeToString([]byte(authorization(r)))
		}, ": (secret)"},
		"token at the cut": {grafana, 500, nil, func(r request) string {
			return strings.Repeat("x", maxAnswer-45) + authorization(r)
		}, "xxx(secret)"},
		"user and password": {func(base string) *Channel {
			return &Channel{Kind: Alertmanager, Target: base, User: "ann", secret: source{text: "pa55 w0rd"}}
		}, 401, nil, func(r request) string { return "bad " + r.Header.Get("Authorization") }, "bad Basic (secret)"},
		"query of the target": {func(base string) *Channel {
			c := hook(base + "/hook?token=QUERYSECRETabc")
			return c
		}, 404, nil, func(r request) string {
			return "no " + r.URL.RawQuery + ", " + r.URL.Query().Get("token")
		}, "no (secret), (secret)"},
	} {
		channel := c.channel(echo(c.status, c.location, c.text))
		channel.Name, channel.AllowPrivate = "c", true
		r := (&Sender{}).Send(t.Context(), one(channel, Message{ID: "x"}))
		if !strings.Contains(r.Answer, c.want) || strings.Contains(r.Answer, key) || strings.Contains(r.Answer,
			"TOKEN") || strings.Contains(r.Answer, "QUERYSECRET") {
			t.Errorf("%s: got %q, want %q", name, r.Answer, c.want)
		}
	}
	if got := (&Channel{}).discreet("200 OK: ok"); got != "200 OK: ok" {
		t.Errorf("without a secret: got %q", got)
	}
	long := &Channel{secret: source{text: strings.Repeat("a.b-", 512)}}
	if got := long.discreet("x" + long.secret.text + "y"); strings.Contains(got, "a.b-") {
		t.Errorf("a long secret: got %.100q", got)
	}
}

// Users, passwords and queries of targets are not printed.
func TestWhere(t *testing.T) {
	for _, c := range []struct{ target, want string }{
		{"https://example.com/hook?token=QUERYSECRET", "https://example.com/hook?…"},
		{"https://ann:PASSWORD@example.com/", "https://example.com/"},
		{"https://example.com/hook", "https://example.com/hook"},
		{"https://exa mple/%zz?SECRET", "(no URL)"},
	} {
		if got := (&Channel{Kind: Webhook, Target: c.target}).Where(); got != c.want {
			t.Errorf("%s: got %s, want %s", c.target, got, c.want)
		}
	}
}

// The URL for Slack is secret, so it requires TLS.
func TestSlackURL(t *testing.T) {
	for text, private := range map[string][2]bool{ // valid without and with allow_private
		"https://hooks.slack.com/services/T/B/x": {true, true}, "http://hooks.slack.com/services/T/B/x": {false, true},
		"HTTP://10.0.0.1/x":       {false, true},
		"ftp://hooks.slack.com/x": {false, false}, "https://hooks.slack.com": {false, false},
		"not a URL": {false, false},
	} {
		for i, want := range private {
			c := &Channel{Kind: Slack, AllowPrivate: i == 1}
			if err := c.checkSlackURL(text); (err == nil) != want || err != nil && strings.Contains(err.Error(),
				"/T/B/x") {
				t.Errorf("%s, allow_private %v: got %v", text, c.AllowPrivate, err)
			}
		}
	}
}
