package notify

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// webhookBody is the body of a webhook in the form recommended by Standard Webhooks.
type webhookBody[T webhookMessage | webhookDigest] struct {
	Type      string    `json:"type"` // "change.found", "change.resolved", "test", "digest"
	Timestamp time.Time `json:"timestamp"`
	Data      T         `json:"data"`
}

type webhookDigest struct {
	Messages []webhookMessage `json:"messages"`
	More     int              `json:"more,omitempty"` // number of omitted messages
}

type webhookMessage struct {
	ID           string            `json:"id"`
	Event        Event             `json:"event"`
	Time         time.Time         `json:"time"`
	Change       string            `json:"change"`
	Title        string            `json:"title"`
	Lines        []string          `json:"lines"`
	Labels       map[string]string `json:"labels"`
	Pages        []string          `json:"pages,omitempty"`
	Milliseconds *float64          `json:"milliseconds,omitempty"`
	URL          string            `json:"url,omitempty"`
	Begin        time.Time         `json:"begin"`
	End          time.Time         `json:"end,omitzero"`
	Commit       string            `json:"commit,omitempty"`
	Repository   string            `json:"repository,omitempty"`
}

// maxDigest is the maximum number of messages in a digest; further messages are only counted.
const maxDigest = 100

func webhookMessageOf(m Message) webhookMessage {
	w := webhookMessage{ID: m.ID, Event: m.Event, Time: m.Time, Change: m.Change, Title: m.Title, Lines: m.Lines,
		Labels:       m.Labels,
		Milliseconds: m.Milliseconds, URL: m.Link, Begin: m.Begin, End: m.End, Commit: clean(m.Commit, maxLabel),
		Repository: clean(m.Repository, maxLabel)}
	for _, p := range m.Pages[:min(len(m.Pages), maxLines)] {
		w.Pages = append(w.Pages, clean(p, maxLabel))
	}
	return w
}

func sendWebhook(ctx context.Context, l *line, b Batch) Result {
	m := b.Due[0].Message
	kind := "change." + string(m.Event)
	if m.Event == Test {
		kind = "test"
	}
	var body any = webhookBody[webhookMessage]{kind, m.Time, webhookMessageOf(m)}
	if len(b.Due) > 1 {
		var digest webhookDigest
		for _, d := range b.Due[:min(len(b.Due), maxDigest)] {
			digest.Messages = append(digest.Messages, webhookMessageOf(d.Message))
		}
		digest.More = len(b.Due) - len(digest.Messages)
		body = webhookBody[webhookDigest]{"digest", l.now, digest}
	}
	data, err := json.Marshal(body)
	if err != nil {
		return Result{Outcome: Refused, Answer: "write JSON: " + err.Error()}
	}
	header, err := sign(l.channel.secret.text, b.ID, l.now, data)
	if err != nil {
		return Result{Outcome: Refused, Answer: err.Error()}
	}
	return l.judged(l.do(ctx, http.MethodPost, l.channel.Target, header, data))
}

// sign returns the headers of Standard Webhooks, with one signature for each secret.
func sign(secrets, id string, at time.Time, body []byte) (http.Header, error) {
	keys, err := signingKeys(secrets)
	if err != nil {
		return nil, err
	}
	stamp := strconv.FormatInt(at.Unix(), 10)
	var signatures []string
	for _, key := range keys {
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.%s", id, stamp, body)
		signatures = append(signatures, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	h := http.Header{}
	h.Set("webhook-id", id)
	h.Set("webhook-timestamp", stamp)
	h.Set("webhook-signature", strings.Join(signatures, " "))
	return h, nil
}

const maxSigningKeys = 5

// signingKeys parses secrets, one a line.
func signingKeys(text string) (keys [][]byte, err error) {
	const how = "write whsec_ and 24 to 64 random bytes in base64, such as `echo whsec_$(openssl rand -base64 32)` " +
		"prints; several, one a line, while one replaces another"
	secrets := strings.Fields(text)
	if len(secrets) > maxSigningKeys {
		return nil, fmt.Errorf("%d secrets, the most is %d", len(secrets), maxSigningKeys)
	}
	for _, s := range secrets {
		encoded, ok := strings.CutPrefix(s, "whsec_")
		key, err := base64.StdEncoding.DecodeString(encoded)
		if !ok || err != nil || len(key) < 24 || len(key) > 64 {
			return nil, errors.New("not a secret of Standard Webhooks; " + how)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

func (c *Channel) checkSigningSecrets(text string) error {
	_, err := signingKeys(text)
	return err
}
