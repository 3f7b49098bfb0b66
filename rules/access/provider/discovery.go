package provider

import (
	"context"
	"fmt"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
)

// discovery is one request for the provider's endpoints. All logins that need them wait for the
// same request.
type discovery struct {
	done  chan struct{} // closed once the other fields are set
	known *oidc.Provider
	err   error
	ended time.Time
}

// retryAfter is how long the error of a failed discovery is returned before the next attempt.
const retryAfter = 5 * time.Second

// discovered returns the provider's endpoints. If ctx ends, the caller stops waiting, and the
// request continues.
func (p *Provider) discovered(ctx context.Context) (*oidc.Provider, error) {
	d := p.discovery()
	select {
	case <-d.done:
		return d.known, d.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// discovery returns the current discovery. It starts a new one if there is none, or if the last one
// failed more than retryAfter ago.
func (p *Provider) discovery() *discovery {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last == nil || p.last.failedBefore(p.now().Add(-retryAfter)) {
		p.last = &discovery{done: make(chan struct{})}
		go p.discover(p.last)
	}
	return p.last
}

// failedBefore reports whether the discovery failed at or before a time. It is false while the
// discovery is running.
func (d *discovery) failedBefore(at time.Time) bool {
	select {
	case <-d.done:
		return d.err != nil && !d.ended.After(at)
	default:
		return false
	}
}

// discover requests the endpoints. The client has a timeout.
func (p *Provider) discover(d *discovery) {
	defer close(d.done)
	d.known, d.err = oidc.NewProvider(oidc.ClientContext(context.Background(), p.client), p.s.Issuer)
	if d.err != nil {
		d.err = fmt.Errorf("discover the endpoints of the provider %s: %w", p.s.Issuer, d.err)
	}
	d.ended = p.now()
}
