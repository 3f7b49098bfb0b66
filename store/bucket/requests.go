package bucket

import (
	"context"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// Requests are how many requests were sent since the start, each attempt counted, by what stores charge for.
type Requests struct {
	Put, Get, List, Delete uint64
}

// sender sends requests, counts them, and waits for none for ever: a store, or something on the way to it, may take a request
// and never answer.
type sender struct {
	next                   s3.HTTPClient
	put, get, list, delete atomic.Uint64
}

// How long a request may take: what it is without a byte of the answer, and at least so many bytes a second to send it.
const (
	patience = 30 * time.Second
	slowest  = 128 << 10
)

// Do implements [s3.HTTPClient].
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
func (b *Bucket) Requests() Requests {
	return Requests{Put: b.sent.put.Load(), Get: b.sent.get.Load(), List: b.sent.list.Load(), Delete: b.sent.delete.Load()}
}

// atOnce is how many connections are kept for the next requests: as many as a question needs, and more.
const atOnce = 64

// newHTTPClient returns what carries requests by default.
func newHTTPClient() *awshttp.BuildableClient {
	return awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		t.MaxIdleConns, t.MaxIdleConnsPerHost = atOnce, atOnce
	})
}
