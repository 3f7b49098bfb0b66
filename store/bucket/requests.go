package bucket

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"sync/atomic"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/authorities"
	"github.com/fieldtrie/fieldtrie/store/objects"
)

// sender sends and counts requests. It bounds their duration, because a store or a proxy may accept
// a request and never respond.
type sender struct {
	next                   *http.Client
	put, get, list, delete atomic.Uint64
}

// Bounds of a request: the time without a byte of the response, and the minimum speed of sending it
// in bytes per second.
const (
	patience = 30 * time.Second
	slowest  = 128 << 10
)

// newSender returns a sender with a transport. It does not follow redirects, because a signature is
// valid for one address only.
func newSender(by http.RoundTripper) *sender {
	return &sender{next: &http.Client{Transport: by, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}}
}

// Do sends a request. It returns errSilent if sending it is slower than slowest, or if patience
// passes without a byte of the response.
func (c *sender) Do(r *http.Request) (*http.Response, error) {
	c.count(r)
	ctx, cancel := context.WithCancelCause(r.Context())
	timer := time.AfterFunc(patience+time.Duration(max(0, r.ContentLength))*time.Second/slowest, func() {
		cancel(errSilent)
	})
	answer, err := c.next.Do(r.WithContext(ctx))
	if err != nil {
		timer.Stop()
		if context.Cause(ctx) == errSilent {
			err = errSilent
		}
		cancel(nil)
		return answer, err
	}
	timer.Reset(patience)
	answer.Body = &patientBody{answer.Body, ctx, timer, cancel}
	return answer, nil
}

func (c *sender) count(r *http.Request) {
	switch {
	case r.Method == http.MethodPut:
		c.put.Add(1)
	case r.Method == http.MethodPost || r.Method == http.MethodDelete:
		c.delete.Add(1)
	case r.URL.Query().Has("list-type"):
		c.list.Add(1)
	default:
		c.get.Add(1)
	}
}

// patientBody is a response body that fails if no data arrives for too long.
type patientBody struct {
	io.ReadCloser
	ctx    context.Context
	timer  *time.Timer
	cancel context.CancelCauseFunc
}

func (b *patientBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.timer.Reset(patience)
	}
	if err != nil && context.Cause(b.ctx) == errSilent {
		err = errSilent
	}
	return n, err
}

func (b *patientBody) Close() error {
	b.timer.Stop()
	defer b.cancel(nil)
	return b.ReadCloser.Close()
}

// silence is the error that a store has not responded. It counts as a timeout, so that calls are
// retried where that is safe.
type silence struct{}

var errSilent error = silence{}

func (silence) Error() string   { return "the store does not respond" }
func (silence) Timeout() bool   { return true }
func (silence) Temporary() bool { return true }

// Requests returns the number of requests.
func (b *Bucket) Requests() objects.Requests {
	return objects.Requests{Put: b.client.sent.put.Load(), Get: b.client.sent.get.Load(),
		List: b.client.sent.list.Load(), Delete: b.client.sent.delete.Load()}
}

// atOnce is the number of idle connections that are kept, which is more than a query needs.
const atOnce = 64

// newTransport returns the default transport, which trusts the authorities of AWS_CA_BUNDLE if it
// is set.
func newTransport(to *url.URL) (*http.Transport, error) {
	t := authorities.Transport(to)
	t.MaxIdleConns, t.MaxIdleConnsPerHost = atOnce, atOnce
	if name := os.Getenv("AWS_CA_BUNDLE"); name != "" {
		bundle, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read AWS_CA_BUNDLE: %w", err)
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(bundle) {
			return nil, fmt.Errorf("read AWS_CA_BUNDLE: %w", errors.New(name+" contains no PEM certificate"))
		}
		t.TLSClientConfig = &tls.Config{RootCAs: roots}
	}
	return t, nil
}
