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

// Sender sends batches. The zero value is ready to use. It is safe for concurrent use by multiple
// goroutines.
//
// It connects only to public addresses, checked after name resolution, unless a channel has
// AllowPrivate. It does not follow redirects. It uses the proxy of the environment only with
// AllowPrivate, since a proxy resolves names itself.
type Sender struct {
	// Now is the clock; the default is [time.Now].
	Now func() time.Time
}

const (
	sendTimeout    = 30 * time.Second // timeout of a delivery with all its requests
	unreachedPause = 30 * time.Second // after a receiver was unreachable
	maxResponse    = 256 << 10        // bytes read of a response
)

// Send sends a batch and returns the outcome. It takes at most half a minute.
func (s *Sender) Send(ctx context.Context, b Batch) Result {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	if len(b.Due) == 0 {
		return Result{Outcome: Refused, Answer: "no message"}
	}
	l := &line{channel: b.Channel, now: s.now()}
	messages := make([]Due, len(b.Due))
	for i, d := range b.Due {
		d.Message = cleaned(d.Message)
		messages[i] = d
	}
	b.Due, b.ID = messages, token(b.ID)
	r := conductOf(b.Channel.Kind).send(ctx, l, b)
	r.Answer = clean(b.Channel.discreet(r.Answer), maxAnswer) // a truncated secret would not be found
	return r
}

func (s *Sender) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

// TestBatch returns a message that tests a channel.
func TestBatch(c *Channel, now time.Time) Batch {
	id := "test-" + strconv.FormatInt(now.UnixNano(), 36)
	m := Message{
		ID: id, Time: now, Event: Test, Change: id, Begin: now,
		Title: "Test: Fieldtrie can reach the channel " + c.Name,
		Lines: []string{"This is a test message that an operator requested. Nothing has changed."},
	}
	return Batch{ID: id, Channel: c, Due: []Due{{Message: m, Channel: c.Name, Since: now}}}
}

// line is the connection to the receiver of a channel during one delivery.
type line struct {
	channel *Channel
	now     time.Time
}

// reply is a response.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// ok reports whether the receiver accepted the request.
func (r reply) ok() bool { return r.status >= 200 && r.status <= 299 }

// do sends a request with a JSON body, or without one if body is nil.
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
	client := http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	res, err := client.Do(req)
	if err != nil {
		return reply{}, withoutURL(err)
	}
	defer func() { _ = res.Body.Close() }()
	got, err := io.ReadAll(io.LimitReader(res.Body, maxResponse))
	if err != nil && res.StatusCode >= 300 { // the rest of a success response does not matter
		return reply{}, fmt.Errorf("read the response: %w", err)
	}
	return reply{status: res.StatusCode, header: res.Header, body: got}, nil
}

// withoutURL returns an error without its URL, which may be secret.
func withoutURL(err error) error {
	if x, ok := errors.AsType[*url.Error](err); ok {
		return x.Err
	}
	return err
}

// bearer returns the header with the token.
func (l *line) bearer() http.Header {
	h := http.Header{}
	if l.channel.secret.text != "" {
		h.Set("Authorization", "Bearer "+l.channel.secret.text)
	}
	return h
}

// unreached converts an error without a response to a result.
func unreached(err error) Result {
	return Result{Outcome: Retry, Pause: unreachedPause, Answer: "not reached: " + err.Error()}
}

// judged converts a response to a result. Statuses 408, 425, 429 and from 500 on, and responses
// with a delay, may succeed later.
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
		out.Answer = fmt.Sprintf("%d %s to %s: redirects are not followed; fix the target of the channel",
			r.status, http.StatusText(r.status), origin(r.header.Get("Location")))
	case r.status == http.StatusRequestTimeout, r.status == http.StatusTooEarly, r.status == http.StatusTooManyRequests,
		r.status >= 500:
		out.Outcome, out.Pause = Retry, pause
	case r.status == http.StatusForbidden && asked: // GitHub's rate limits
		out.Outcome, out.Pause = Retry, pause
	}
	return out
}

// origin returns the scheme and host of a Location, whose path may be secret.
func origin(location string) string {
	u, err := url.Parse(location)
	if err != nil || u.Host == "" {
		return "another path"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host}).String()
}

// retryAfter returns the delay that a receiver asks for, in Retry-After or in GitHub's rate limit
// headers.
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
