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

// sender sends requests, counts them, and waits for none for ever: a store, or something on the way to it, may take a request
// and never answer.
type sender struct {
	next                   *http.Client
	put, get, list, delete atomic.Uint64
}

// How long a request may take: what it is without a byte of the answer, and at least so many bytes a second to send it.
const (
	patience = 30 * time.Second
	slowest  = 128 << 10
)

// newSender returns what sends by a transport. A redirect is an answer like others, since its signature is for one address.
func newSender(by http.RoundTripper) *sender {
	return &sender{next: &http.Client{Transport: by, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// Do sends a request.
func (c *sender) Do(r *http.Request) (*http.Response, error) {
	c.count(r)
	ctx, cancel := context.WithCancelCause(r.Context())
	timer := time.AfterFunc(patience+time.Duration(max(0, r.ContentLength))*time.Second/slowest, func() { cancel(errSilent) })
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

// patientBody is read as long as something comes.
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

// silence says that a store has not answered. To the client library it is a timeout, so that it tries again
// where that does no harm.
type silence struct{}

var errSilent error = silence{}

func (silence) Error() string   { return "the store does not answer" }
func (silence) Timeout() bool   { return true }
func (silence) Temporary() bool { return true }

// Requests returns how many requests were sent.
func (b *Bucket) Requests() objects.Requests {
	return objects.Requests{Put: b.client.sent.put.Load(), Get: b.client.sent.get.Load(), List: b.client.sent.list.Load(), Delete: b.client.sent.delete.Load()}
}

// atOnce is how many connections are kept for the next requests: as many as a question needs, and more.
const atOnce = 64

// newTransport returns what carries requests by default: with the authorities of AWS_CA_BUNDLE, if it is set.
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
			return nil, fmt.Errorf("read AWS_CA_BUNDLE: %w", errors.New(name+" has no certificate in PEM"))
		}
		t.TLSClientConfig = &tls.Config{RootCAs: roots}
	}
	return t, nil
}
