package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/authorities"
)

// Sender sends batches. The zero value is ready, and may be used by many at once.
//
// It connects to addresses of the internet alone, as they are after names are resolved, unless a channel has AllowPrivate. It
// follows no redirect, and uses the proxy of the environment only with AllowPrivate, since that one resolves names by itself.
type Sender struct {
	// Now is the clock, by default [time.Now].
	Now func() time.Time
}

const (
	sendTimeout    = 30 * time.Second // of one sending, with all of its requests
	unreachedPause = 30 * time.Second // after a receiver that was not reached
	maxResponse    = 256 << 10        // bytes that are read of a response
)

// Send sends a batch and says what became of it. It takes half a minute at most.
func (s *Sender) Send(ctx context.Context, b Batch) Result {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	if len(b.Due) == 0 {
		return Result{Outcome: Refused, Answer: "there is no message"}
	}
	l := &line{channel: b.Channel, now: s.now()}
	messages := make([]Due, len(b.Due))
	for i, d := range b.Due {
		d.Message = cleaned(d.Message)
		messages[i] = d
	}
	b.Due, b.ID = messages, token(b.ID)
	r := conductOf(b.Channel.Kind).send(ctx, l, b)
	r.Answer = clean(b.Channel.discreet(r.Answer), maxAnswer) // in this order: a secret that is cut would not be found
	return r
}

func (s *Sender) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

// TestBatch returns a message to try a channel with.
func TestBatch(c *Channel, now time.Time) Batch {
	id := "test-" + strconv.FormatInt(now.UnixNano(), 36)
	m := Message{
		ID: id, Time: now, Event: Test, Change: id, Begin: now,
		Title: "Test: Fieldtrie reaches the channel " + c.Name,
		Lines: []string{"Somebody asked for this message, to see that it comes. Nothing has changed."},
	}
	return Batch{ID: id, Channel: c, Due: []Due{{Message: m, Channel: c.Name, Since: now}}}
}

// line is what connects to the receiver of a channel for one sending.
type line struct {
	channel *Channel
	now     time.Time
}

// reply is what came back.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// ok reports whether the receiver took a request.
func (r reply) ok() bool { return r.status >= 200 && r.status <= 299 }

// do sends a request with a body of JSON, or with none if it is nil.
func (l *line) do(ctx context.Context, method, to string, header http.Header, body any) (reply, error) {
	var data []byte
	if raw, ok := body.([]byte); ok {
		data = raw
	} else if body != nil {
		var err error
		if data, err = json.Marshal(body); err != nil {
			return reply{}, fmt.Errorf("write JSON: %w", err)
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, to, bytes.NewReader(data))
	if err != nil {
		return reply{}, fmt.Errorf("make a request: %w", withoutURL(err))
	}
	for key, values := range header {
		req.Header[key] = values
	}
	req.Header.Set("User-Agent", "fieldtrie")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	t := authorities.Transport(req.URL)
	t.DialContext = dialer(l.channel.AllowPrivate).DialContext
	if !l.channel.AllowPrivate {
		t.Proxy = nil
	}
	t.DisableKeepAlives, t.DisableCompression, t.MaxResponseHeaderBytes = true, true, maxResponse
	defer t.CloseIdleConnections()
	client := http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		return reply{}, withoutURL(err)
	}
	defer func() { _ = res.Body.Close() }()
	got, err := io.ReadAll(io.LimitReader(res.Body, maxResponse))
	if err != nil && res.StatusCode >= 300 { // what a receiver that took the message says further does not matter
		return reply{}, fmt.Errorf("read the response: %w", err)
	}
	return reply{status: res.StatusCode, header: res.Header, body: got}, nil
}

// withoutURL returns an error without the URL that it is about, which may be secret.
func withoutURL(err error) error {
	if x, ok := errors.AsType[*url.Error](err); ok {
		return x.Err
	}
	return err
}

// bearer is the header that a token stands in.
func (l *line) bearer() http.Header {
	h := http.Header{}
	if l.channel.secret.text != "" {
		h.Set("Authorization", "Bearer "+l.channel.secret.text)
	}
	return h
}

// unreached is the result of an error without a response.
func unreached(err error) Result {
	return Result{Outcome: Retry, Pause: unreachedPause, Answer: "not reached: " + err.Error()}
}

// judged is the result of a request. What may be accepted later: the statuses 408, 425, 429 and from 500 on, and those with a
// time to wait.
func (l *line) judged(r reply, err error) Result {
	if err != nil {
		return unreached(err)
	}
	answer := fmt.Sprintf("%d %s: %s", r.status, http.StatusText(r.status), r.body)
	out := Result{Outcome: Refused, Answer: strings.TrimSpace(answer)}
	pause, asked := retryAfter(r.header, l.now)
	switch {
	case r.ok():
		out.Outcome = Accepted
		return out
	case r.status >= 300 && r.status <= 399:
		out.Answer = fmt.Sprintf("%d %s to %s: redirects are not followed; give the channel the right target",
			r.status, http.StatusText(r.status), origin(r.header.Get("Location")))
	case r.status == http.StatusRequestTimeout, r.status == http.StatusTooEarly, r.status == http.StatusTooManyRequests, r.status >= 500:
		out.Outcome, out.Pause = Retry, pause
	case r.status == http.StatusForbidden && asked: // GitHub's limits
		out.Outcome, out.Pause = Retry, pause
	}
	return out
}

// origin returns the scheme and host of a Location, whose path can be the secret.
func origin(location string) string {
	u, err := url.Parse(location)
	if err != nil || u.Host == "" {
		return "another path"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host}).String()
}

// retryAfter returns how long a receiver asks to wait, in a header Retry-After or by GitHub's of its limits.
func retryAfter(h http.Header, now time.Time) (pause time.Duration, asked bool) {
	text := h.Get("Retry-After")
	if seconds, err := strconv.Atoi(text); err == nil && seconds >= 0 {
		return time.Duration(min(seconds, int(longestWait/time.Second))) * time.Second, true
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(0, at.Sub(now)), longestWait), true
	}
	reset, err := strconv.ParseInt(h.Get("X-Ratelimit-Reset"), 10, 64)
	if err == nil && h.Get("X-Ratelimit-Remaining") == "0" {
		return min(max(0, time.Unix(reset, 0).Sub(now)), longestWait), true
	}
	return 0, false
}
