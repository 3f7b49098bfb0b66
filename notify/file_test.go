package notify

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

const everything = `dashboard: https://profiles.example.com:8419
channels:
  - name: hook
    kind: webhook
    target: https://hooks.example.com/fieldtrie
    secret_file: hook.secret
    pages: [/shop/**, "shop:/feed"]
    owner: team-shop
    events: [found, resolved]
    directions: [slower]
    min_ms: 2.5
    quiet_hours: 22:00-07:30 Europe/Berlin
    rate: 10/1h
    allow_private: true
  - {name: chat, kind: slack, secret_env: CHAT}
  - {name: alerts, kind: alertmanager, target: "http://am:9093", user: u, secret_env: AM}
  - {name: bare, kind: alertmanager, target: "http://am:9093/prefix/", allow_private: false}
  - {name: mail, kind: email, target: "smtps://mail.example.com", user: me, secret_env: MAIL, from: "F ` +
	`<f@example.com>", to: [a@example.com, "B <b@example.com>"]}
  - {name: grafana, kind: grafana, target: "https://grafana.example.com", secret_env: G}
  - {name: issues, kind: github, target: "https://github.com/acme/shop", as: issue, secret_env: GH, rate: 3/24h}
  - {name: commits, kind: github, target: "https://git.example.com/acme/shop.git", api: ` +
	`"https://git.example.com/api/v3", as: comment, secret_env: GH}
`

func TestParse(t *testing.T) {
	f, err := Parse(strings.NewReader(everything))
	if err != nil {
		t.Fatal(err)
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	want := []Channel{
		{Name: "hook", Kind: Webhook, Target: "https://hooks.example.com/fieldtrie", Line: 3,
			Pages: []string{"/shop/**", "shop:/feed"}, Owner: "team-shop",
			Events: []Event{Found, Resolved}, Directions: []string{"slower"}, MinMS: 2.5, Quiet: &Quiet{22 * time.Hour,
				7*time.Hour + 30*time.Minute, berlin},
			Rate: &Rate{10, time.Hour}, AllowPrivate: true, secret: source{file: "hook.secret"}},
		{Name: "chat", Kind: Slack, Line: 15, secret: source{env: "CHAT"}},
		{Name: "alerts", Kind: Alertmanager, Target: "http://am:9093", Line: 16, User: "u", secret: source{env: "AM"}},
		{Name: "bare", Kind: Alertmanager, Target: "http://am:9093/prefix/", Line: 17},
		{Name: "mail", Kind: Email, Target: "smtps://mail.example.com", Line: 18, User: "me", From: "F <f@example.com>",
			To: []string{"a@example.com", "B <b@example.com>"}, secret: source{env: "MAIL"}},
		{Name: "grafana", Kind: Grafana, Target: "https://grafana.example.com", Line: 19, secret: source{env: "G"}},
		{Name: "issues", Kind: GitHub, Target: "https://github.com/acme/shop", Line: 20, As: asIssue,
			Rate: &Rate{3, 24 * time.Hour}, secret: source{env: "GH"}},
		{Name: "commits", Kind: GitHub, Target: "https://git.example.com/acme/shop.git", Line: 21, As: asComment,
			API: "https://git.example.com/api/v3", secret: source{env: "GH"}},
	}
	if f.Dashboard != "https://profiles.example.com:8419" || len(f.Channels) != len(want) {
		t.Fatalf("got %+v", f)
	}
	for i := range want {
		if !reflect.DeepEqual(f.Channels[i], want[i]) {
			t.Errorf("got\n%+v, want\n%+v", f.Channels[i], want[i])
		}
	}
}

// The example in the documentation is valid.
func TestExample(t *testing.T) {
	r, err := os.Open("../docs/notifications.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	f, err := Parse(r)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[Kind]bool{}
	for _, c := range f.Channels {
		kinds[c.Kind] = true
	}
	for _, k := range allKinds() {
		if !kinds[k] {
			t.Errorf("the example has no channel of kind %s", k)
		}
	}
}

// All errors are reported together, with their lines.
func TestMistakes(t *testing.T) {
	for text, want := range map[string][]string{
		"":               {"no channel;"},
		"channels: []":   {"line 1: channels is not a list with at least one entry"},
		"channels: [a]":  {"line 1: a list entry is not a mapping"},
		"chanels: [{}]":  {`line 1: unknown key "chanels"`, "no channel;"},
		"dashboard: x":   {"line 1: dashboard: not a URL", "no channel"},
		"channels: [{}]": {`line 1: name ""`, `line 1: kind "": known are webhook, slack`},
		`channels:
  - {name: a, kind: webhook, target: "ftp://x", secret_file: f, secret_env: E}
  - {name: a, kind: webhook, target: "https://user:secretive@x", pages: [feed], events: [test], directions: [up], ` +
			`min_ms: -1}
  - {name: "b c", kind: slack, target: "https://hooks.slack.com/x"}
  - {name: d, kind: alertmanager, target: "http://am", rate: 1/1h, quiet_hours: 22:00-07:00 UTC, user: u, as: issue}
  - {name: e, kind: email, target: "smtp://x/y", from: x, to: [y], secret_env: E}
  - {name: f, kind: github, target: "https://git.example.com/acme", as: poem, secret_env: E}
  - {name: g, kind: grafana, target: "http://g", secret_env: E, rate: 0/1h, quiet_hours: 7-8 UTC, allow_private: yes,` +
			` min_ms: many}
`: {
			"line 2: channel a: secret_file and secret_env: only one", "line 2: channel a: target: not a URL",
			"line 3: duplicate channel a", "line 3: channel a: the secret is missing",
			"line 3: channel a: target: the URL must not have a user and password",
			`line 3: page "feed"`, `line 3: events: "test"`, `line 3: directions: "up"`, "line 3: min_ms is negative",
			`line 4: name "b c"`, "line 4: target: the URL of slack is secret",
			"line 4: channel b c: the secret is missing",
			"line 5: rate: not supported for alertmanager", "line 5: quiet_hours: not supported for alertmanager",
			"line 5: channel d: the secret is missing",
			"line 5: as: a channel of kind alertmanager has no such field",
			`line 6: channel e: target: "smtp://x/y"`, `line 6: channel e: from: "x"`, `line 6: channel e: to: "y"`,
			"line 6: channel e: a secret without a user",
			"line 7: channel f: target:", `line 7: channel f: as: "poem"`, "line 7: channel f: api is missing",
			`line 8: rate: "0/1h"`, `line 8: quiet_hours: "7-8 UTC"`, `line 8: allow_private: "yes"`,
			`line 8: min_ms: "many" is not a number`,
		},
	} {
		f, err := Parse(strings.NewReader(text))
		if f != nil || err == nil {
			t.Errorf("%q: got %v, %v", text, f, err)
			continue
		}
		for _, w := range want {
			if !strings.Contains("\n"+err.Error(), "\n"+w) {
				t.Errorf("%q: no %q in\n%v", text, w, err)
			}
		}
		if strings.Contains(err.Error(), "secretive") {
			t.Errorf("a password is in %v", err)
		}
		for l := range strings.Lines(err.Error()) {
			if !strings.HasPrefix(l, "line ") && !strings.HasPrefix(l, "no channel") {
				t.Errorf("%q: no line is named in %q", text, l)
			}
		}
	}
}

func TestSecrets(t *testing.T) {
	f, err := Parse(strings.NewReader(everything))
	if err != nil {
		t.Fatal(err)
	}
	const good = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	env := map[string]string{"CHAT": "https://hooks.slack.com/services/T0/B0/x", "AM": "a", "MAIL": "b",
		"G": "c", "GH": "d"}
	file := func(name string) ([]byte, error) {
		if name != "hook.secret" {
			return nil, os.ErrNotExist
		}
		return []byte(good + "\n" + good + "\n"), nil
	}
	if err := f.ReadSecrets(file, func(name string) string { return env[name] }); err != nil {
		t.Fatal(err)
	}
	if got := f.Channel("hook").secret.text; got != good+"\n"+good {
		t.Errorf("got %q", got)
	}
	if text := reflect.ValueOf(f.Channel("hook").secret).String() + f.Channel("hook").secret.String(); strings.Contains(
		text, "whsec") {
		t.Errorf("the secret is in %s", text)
	}
	bad := map[string]string{"CHAT": "hooks.slack.com", "MAIL": "two\nlines", "G": " ", "GH": "gr\u00fcn"}
	err = f.ReadSecrets(func(string) ([]byte, error) {
		return nil, errors.New("no such secret")
	}, func(name string) string { return bad[name] })
	for _, want := range []string{
		"line 3: channel hook: read secret_file: no such secret",
		"line 15: channel chat: secret_env CHAT: not the URL of an incoming webhook",
		"line 16: channel alerts: secret_env AM is empty",
		"line 18: channel mail: secret_env MAIL: a token must be one line",
		"line 19: channel grafana: secret_env G is empty", "line 20: channel issues: secret_env GH: a token",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in\n%v", want, err)
		}
	}
	for secrets, ok := range map[string]bool{
		good: true, good[6:]: false, "whsec_" + strings.Repeat("A", 31): false, "whsec_" + strings.Repeat("A",
			28): false, "whsec_" + strings.Repeat("AAAA", 22): false,
		strings.Repeat(good+" ", 5): true, strings.Repeat(good+" ", 6): false,
	} {
		if err := (&Channel{}).checkSigningSecrets(secrets); (err == nil) != ok || err != nil &&
			strings.Contains(err.Error(), "AAAA") {
			t.Errorf("%q: got %v", secrets, err)
		}
	}
}

// Any file is accepted or rejected without a panic, and accepted files can be used for plans.
func FuzzParse(f *testing.F) {
	f.Add(everything)
	f.Add("channels: [{name: a, kind: slack, secret_env: E, quiet_hours: 00:00-23:59 UTC, rate: 1/1m}]")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := Parse(strings.NewReader(text))
		if (file == nil) != (err != nil) {
			t.Fatalf("got %v, %v", file, err)
		}
		if file == nil {
			return
		}
		now := time.Unix(1_800_000_000, 0)
		for i := range file.Channels {
			c := &file.Channels[i]
			if file.Channel(c.Name) != c || conductOf(c.Kind).send == nil {
				t.Errorf("channel %q is not found", c.Name)
			}
			plan := file.Plan([]Due{{Message: Message{ID: "x"}, Channel: c.Name, Since: now}}, nil, now)
			if len(plan.Send)+len(plan.Wait) != 1 {
				t.Errorf("got %+v", plan)
			}
		}
	})
}

func TestWants(t *testing.T) {
	ms := func(x float64) *float64 { return &x }
	m := Message{Event: Found, Pages: []string{"/cart", "shop:/shop/x"},
		Labels: map[string]string{"direction": "slower", "owner": "team", "team": "crew"}, Milliseconds: ms(5)}
	for _, test := range []struct {
		c    Channel
		m    func(*Message)
		want bool
	}{
		{Channel{}, nil, true},
		{Channel{Pages: []string{"/shop/**"}}, nil, true},
		{Channel{Pages: []string{"/feed", "/cart"}}, nil, true},
		{Channel{Pages: []string{"/feed", "/shop"}}, nil, false},
		{Channel{Pages: []string{"/feed"}}, func(m *Message) { m.Event = Test }, true},
		{Channel{Pages: []string{"/feed"}}, func(m *Message) { m.Pages = nil }, false},
		{Channel{Owner: "team"}, nil, true},
		{Channel{Owner: "crew"}, nil, true},
		{Channel{Owner: "tea"}, nil, false},
		{Channel{Events: []Event{Resolved}}, nil, false},
		{Channel{Events: []Event{Resolved, Found}}, nil, true},
		{Channel{Directions: []string{"faster"}}, nil, false},
		{Channel{Directions: []string{"faster", "slower"}}, nil, true},
		{Channel{MinMS: 5}, nil, true},
		{Channel{MinMS: 5.1}, nil, false},
		{Channel{MinMS: 5.1}, func(m *Message) { m.Milliseconds = nil }, true}, // an unknown size is not small
		{Channel{Kind: GitHub, As: asIssue, Target: "https://github.com/acme/shop"}, nil, true},
		{Channel{Kind: GitHub, As: asComment, Target: "https://github.com/acme/shop"}, nil, false},
		{Channel{Kind: GitHub, As: asComment, Target: "https://github.com/acme/shop"}, func(m *Message) {
			m.Commit = "0123abc"
		}, true},
		{Channel{Kind: GitHub, As: asComment, Target: "https://github.com/acme/shop"}, func(m *Message) {
			m.Commit = "../../x"
		}, false},
		{Channel{Kind: GitHub, As: asIssue, Target: "https://github.com/acme/shop"}, func(m *Message) {
			m.Repository = "https://github.com/Acme/shop.git"
		}, true},
		{Channel{Kind: GitHub, As: asIssue, Target: "https://github.com/acme/shop"}, func(m *Message) {
			m.Repository = "https://github.com/acme/other"
		}, false},
	} {
		m := m
		if test.m != nil {
			test.m(&m)
		}
		if got := test.c.Wants(m); got != test.want {
			t.Errorf("%+v of %+v: got %v", test.c, m, got)
		}
	}
}
