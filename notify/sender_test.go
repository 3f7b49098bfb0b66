package notify

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

const signingSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// request is a request that a receiver received.
type request struct {
	*http.Request
	body string
}

// receiver starts a receiver with configurable responses.
func receiver(t *testing.T, answer func(w http.ResponseWriter, r request)) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, 10<<20))
		if err != nil {
			t.Error(err)
		}
		answer(w, request{r, string(body)})
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func hook(target string) *Channel {
	return &Channel{Name: "hook", Kind: Webhook, Target: target, AllowPrivate: true,
		secret: source{text: signingSecret}}
}

func one(c *Channel, m Message) Batch {
	return Batch{ID: m.ID, Channel: c, Due: []Due{{Message: m, Channel: c.Name}}}
}

func TestOutcomes(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	for _, test := range []struct {
		status int
		header string
		want   Outcome
		pause  time.Duration
	}{
		{200, "", Accepted, 0}, {204, "", Accepted, 0}, {299, "Retry-After: 5", Accepted, 0},
		{301, "Location: /other", Refused, 0}, {302, "Location: http://169.254.169.254/", Refused, 0},
		{307, "Location: /other", Refused, 0}, {304, "", Refused, 0},
		{400, "", Refused, 0}, {401, "", Refused, 0}, {403, "", Refused, 0}, {404, "", Refused, 0}, {410, "", Refused,
			0}, {422, "", Refused, 0}, {400, "Retry-After: 5", Refused, 0},
		{408, "", Retry, 0}, {425, "", Retry, 0}, {429, "", Retry, 0}, {500, "", Retry, 0}, {502, "", Retry, 0},
		{503, "", Retry, 0}, {599, "", Retry, 0},
		{429, "Retry-After: 120", Retry, 2 * time.Minute},
		{503, "Retry-After: " + now.Add(time.Hour).UTC().Format(http.TimeFormat), Retry, time.Hour},
		{503, "Retry-After: 9999999999999", Retry, 24 * time.Hour}, {503, "Retry-After: 99999999999999999999999", Retry,
			0}, {503, "Retry-After: -5", Retry, 0}, {503, "Retry-After: soon", Retry, 0},
		{503, "Retry-After: " + now.Add(-time.Hour).UTC().Format(http.TimeFormat), Retry, 0},
		{403, "Retry-After: 60", Retry, time.Minute},
		{403, "X-RateLimit-Remaining: 0\nX-RateLimit-Reset: 1800000090", Retry, 90 * time.Second},
		{403, "X-RateLimit-Remaining: 1\nX-RateLimit-Reset: 1800000090", Refused, 0},
	} {
		asked := 0
		target := receiver(t, func(w http.ResponseWriter, r request) {
			asked++
			for line := range strings.Lines(test.header) {
				name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
				w.Header().Set(name, value)
			}
			w.WriteHeader(test.status)
			if test.status != 204 && test.status != 304 {
				fmt.Fprint(w, "because\x1b[31m of "+signingSecret)
			}
		})
		s := Sender{Now: func() time.Time { return now }}
		r := s.Send(t.Context(), one(hook(target), Message{ID: "x"}))
		if r.Outcome != test.want || r.Pause != test.pause || asked != 1 {
			t.Errorf("%d %q: got %+v in %d requests, want %s %s", test.status, test.header, r, asked, test.want,
				test.pause)
		}
		if !strings.Contains(r.Answer, fmt.Sprint(test.status)) || strings.Contains(r.Answer, "whsec") ||
			strings.Contains(r.Answer, "\x1b") {
			t.Errorf("%d: the answer is %q", test.status, r.Answer)
		}
	}
}

// Private addresses are not connected to, whatever their name.
func TestPrivateTargets(t *testing.T) {
	var asked atomic.Int32
	target := receiver(t, func(w http.ResponseWriter, r request) { asked.Add(1) })
	port := target[strings.LastIndexByte(target, ':'):]
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "[::1]", "0.0.0.0", "[::]",
		"2130706433", "127.1", "169.254.169.254", "[64:ff9b::7f00:1]", "[fe80::1%25lo]"} {
		c := hook("http://" + host + port)
		c.AllowPrivate = false
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		r := (&Sender{}).Send(ctx, one(c, Message{ID: "x"}))
		cancel()
		if r.Outcome != Retry || r.Pause == 0 {
			t.Errorf("%s: got %+v", host, r)
		}
		if (host == "127.0.0.1" || host == "localhost") && !strings.Contains(r.Answer, "set allow_private: true") {
			t.Errorf("%s: the answer is %q", host, r.Answer)
		}
	}
	mail := &Channel{Name: "m", Kind: Email, Target: "smtp://localhost" + port, From: "f@example.com",
		To: []string{"t@example.com"}}
	if r := (&Sender{}).Send(t.Context(), one(mail, Message{ID: "x"})); r.Outcome != Retry ||
		!strings.Contains(r.Answer, "set allow_private: true") {
		t.Errorf("got %+v", r)
	}
	if asked.Load() != 0 {
		t.Errorf("%d requests reached the receiver", asked.Load())
	}
	if r := (&Sender{}).Send(t.Context(), one(hook(target), Message{ID: "x"})); r.Outcome != Accepted ||
		asked.Load() != 1 {
		t.Errorf("got %+v", r)
	}
}

// A proxy of the environment could connect to any address.
func TestProxy(t *testing.T) {
	var asked atomic.Int32
	proxy := receiver(t, func(w http.ResponseWriter, r request) { asked.Add(1) })
	t.Setenv("HTTP_PROXY", proxy)
	c := hook("http://192.0.2.1/")
	c.AllowPrivate = false
	if r := (&Sender{}).Send(t.Context(), one(c, Message{ID: "x"})); r.Outcome != Retry || asked.Load() != 0 {
		t.Errorf("got %+v", r)
	}
}

// A receiver may send an endless response, or none.
func TestEndlessReceivers(t *testing.T) {
	stop := make(chan struct{})
	t.Cleanup(func() { close(stop) })
	for name, answer := range map[string]func(http.ResponseWriter, request){
		"body": func(w http.ResponseWriter, r request) {
			w.WriteHeader(500)
			for chunk := make([]byte, 1<<16); ; {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		},
		"header": func(w http.ResponseWriter, r request) {
			w.Header().Set("X", strings.Repeat("x", 2*maxResponse))
			w.WriteHeader(500)
		},
		"silence": func(w http.ResponseWriter, r request) {
			select {
			case <-stop:
			case <-r.Context().Done():
			}
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		r := (&Sender{}).Send(ctx, one(hook(receiver(t, answer)), Message{ID: "x"}))
		cancel()
		if r.Outcome != Retry || len(r.Answer) > maxAnswer {
			t.Errorf("%s: got %+v", name, r)
		}
	}
}

func TestUnreached(t *testing.T) {
	server := httptest.NewServer(nil)
	server.Close()
	c := &Channel{Name: "c", Kind: Slack, AllowPrivate: true,
		secret: source{text: server.URL + "/services/T0/B0/verysecret"}}
	r := (&Sender{}).Send(t.Context(), one(c, Message{ID: "x"}))
	if r.Outcome != Retry || r.Pause == 0 || strings.Contains(r.Answer, "verysecret") || !strings.Contains(r.Answer,
		"connection refused") {
		t.Errorf("got %+v", r)
	}
	if r := (&Sender{}).Send(t.Context(), Batch{Channel: c}); r.Outcome != Refused {
		t.Errorf("got %+v", r)
	}
}
