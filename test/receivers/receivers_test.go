package receivers

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/notify"
	"github.com/go-openapi/strfmt"
	"github.com/grafana/grafana-openapi-client-go/models"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// hostile are names as browsers may send them.
var hostile = []string{"formatPrice", "价格 ü", "a\nb", "x\r\nBcc: evil@example.com", "<!channel>", "@here",
	"</b><script>alert(1)</script>", "\u202egnp.exe", "\x00\x1b[31m\xff", `"quoted" \ {{ .Labels }}`,
	"=?utf-8?q?x?=", ".\r\n.\r\nMAIL FROM:<x@example.com>", strings.Repeat("ü<&", 3000), ""}

// change returns a message about a changed function with a name.
func change(event notify.Event, id, name string) notify.Message {
	m := notify.Message{ID: id + "-" + string(event), Time: time.Now(), Event: event, Change: id,
		Title: name + " became slower by 12 ms on /feed", Lines: []string{name, "look at it"},
		Labels: map[string]string{"function": name, "page": "/feed", "direction": "slower", "owner": name},
		Pages:  []string{"/feed"}, Link: "https://profiles.example.com/changes/" + id,
		Begin: time.Now().Add(-time.Hour)}
	if event == notify.Resolved {
		m.End = time.Now()
	}
	return m
}

// channel returns the only channel of a file with a secret.
func channel(t *testing.T, yaml, secret string) *notify.Channel {
	t.Helper()
	f, err := notify.Parse(strings.NewReader("channels: [" + yaml + "]"))
	if err == nil {
		err = f.ReadSecrets(os.ReadFile, func(string) string { return secret })
	}
	if err != nil {
		t.Fatal(err)
	}
	return &f.Channels[0]
}

func send(t *testing.T, c *notify.Channel, messages ...notify.Message) notify.Result {
	t.Helper()
	b := notify.Batch{ID: messages[0].ID, Channel: c}
	for _, m := range messages {
		b.Due = append(b.Due, notify.Due{Message: m, Channel: c.Name})
	}
	return new(notify.Sender).Send(t.Context(), b)
}

// The reference implementation of Standard Webhooks accepts signed messages, with the old and the
// new secret, and rejects all others.
func TestStandardWebhooks(t *testing.T) {
	const older, newer, other = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",
		"whsec_plJ3nmyCDGBKInavdOK15jsl0tTZn6Uz"
	var header http.Header
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header = r.Header
		body, _ = io.ReadAll(r.Body)
	}))
	defer server.Close()
	c := channel(t, `{name: hook, kind: webhook, target: "`+server.URL+`", secret_env: S, allow_private: true}`,
		older+"\n"+newer)
	for _, name := range hostile {
		if r := send(t, c, change(notify.Found, "c1", name)); r.Outcome != notify.Accepted {
			t.Fatalf("got %+v", r)
		}
		for _, secret := range []string{older, newer, other} {
			wh, err := standardwebhooks.NewWebhook(secret)
			if err != nil {
				t.Fatal(err)
			}
			if err := wh.Verify(body, header); (err == nil) != (secret != other) {
				t.Errorf("%s: got %v", secret, err)
			}
			if wh.Verify(append(bytes.Clone(body), ' '), header) == nil {
				t.Error("a changed body is accepted")
			}
		}
	}
}

// Grafana's own types, generated from its API description, decode the notifications.
func TestGrafana(t *testing.T) {
	var said []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		said = append(said, r.Method+" "+r.URL.Path)
		strict := json.NewDecoder(r.Body)
		strict.DisallowUnknownFields()
		var err error
		if r.Method == http.MethodPatch {
			var a models.PatchAnnotationsCmd
			if err = strict.Decode(&a); err == nil {
				err = a.Validate(strfmt.Default)
			}
			if a.TimeEnd <= a.Time {
				t.Errorf("got %+v", a)
			}
		} else {
			var a models.PostAnnotationsCmd
			if err = strict.Decode(&a); err == nil {
				err = a.Validate(strfmt.Default)
			}
		}
		if err != nil {
			t.Error(err)
		}
		id, message := int64(65), "Annotation added"
		answer, err := json.Marshal(models.PostAnnotationOKBody{ID: &id, Message: &message})
		if err != nil {
			t.Error(err)
		}
		_, _ = w.Write(answer) // fails if the client is gone
	}))
	defer server.Close()
	c := channel(t, `{name: g, kind: grafana, target: "`+server.URL+`", secret_env: S, allow_private: true}`, "glsa_x")
	for _, name := range hostile {
		said = nil
		r := send(t, c, change(notify.Found, "c1", name))
		if r.Outcome != notify.Accepted || r.Receipt != "65" {
			t.Fatalf("got %+v", r)
		}
		m := change(notify.Resolved, "c1", name)
		r = new(notify.Sender).Send(t.Context(), notify.Batch{ID: m.ID, Channel: c,
			Due: []notify.Due{{Message: m, Receipt: r.Receipt}}})
		if got := strings.Join(said, ", "); r.Outcome != notify.Accepted ||
			got != "POST /api/annotations, PATCH /api/annotations/65" {
			t.Errorf("got %+v after %s", r, got)
		}
	}
}
