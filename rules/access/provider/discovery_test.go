package provider

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// transport simulates a provider without a network.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// All logins wait for one request to a provider that hangs. Browsers that disconnect do not delay
// others, and an error is returned for some seconds without a new request.
func TestDiscoveryHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const issuer = "https://login.example"
		requests, healthy := atomic.Int32{}, atomic.Bool{}
		of := New(Settings{Issuer: issuer, URL: "https://d.example"})
		of.client.Transport = transport(func(r *http.Request) (*http.Response, error) {
			requests.Add(1)
			if !healthy.Load() {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			return &http.Response{StatusCode: http.StatusOK,
				Body: io.NopCloser(strings.NewReader(`{"issuer": "` + issuer + `"}`))}, nil
		})
		begin := func(ctx context.Context) (time.Duration, error) {
			started := time.Now()
			_, err := of.Begin(ctx, NewAttempt("/"))
			return time.Since(started), err
		}
		gone, leave := context.WithCancel(t.Context())
		for range 12 {
			go func() {
				if waited, err := begin(gone); waited != time.Second || !errors.Is(err, context.Canceled) {
					t.Errorf("got %v after %v, want that a browser can cancel", err, waited)
				}
			}()
		}
		time.Sleep(time.Second)
		leave()
		if waited, err := begin(t.Context()); waited != patience-time.Second || err == nil {
			t.Errorf("got %v after %v, want the timeout of the first request", err, waited)
		}
		if waited, err := begin(t.Context()); waited != 0 || err == nil || requests.Load() != 1 {
			t.Errorf("got %v after %v and %d requests, want the remembered failure", err, waited, requests.Load())
		}
		healthy.Store(true)
		time.Sleep(retryAfter)
		for range 3 {
			if waited, err := begin(t.Context()); waited != 0 || err != nil || requests.Load() != 2 {
				t.Errorf("got %v after %v and %d requests", err, waited, requests.Load())
			}
		}
	})
}

// A callback waits at most as long as one request may take, although the code is sent twice if the
// provider does not respond.
func TestFinishHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const issuer = "https://login.example"
		of := New(Settings{Issuer: issuer, URL: "https://d.example"})
		of.client.Transport = transport(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPost {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			text := `{"issuer": "` + issuer + `", "token_endpoint": "` + issuer + `/token"}`
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(text))}, nil
		})
		started, a := time.Now(), NewAttempt("/")
		_, err := of.Finish(t.Context(), a, url.Values{"state": {a.State}, "code": {"x"}})
		if waited := time.Since(started); waited != patience || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v after %v, want a timeout after %v", err, waited, patience)
		}
	})
}
