package main

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fieldtrie/fieldtrie/cmd/ingest/address"
	"github.com/fieldtrie/fieldtrie/cmd/ingest/telemetry"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/internal/fair"
	"github.com/fieldtrie/fieldtrie/internal/requests"
	"github.com/fieldtrie/fieldtrie/rules/access"
)

// privateAddress is the private address, and what guards it.
type privateAddress struct {
	net.Listener
	guard       *access.Guard // nil: no login
	refused     access.Refused
	refusals    *requests.Refusals
	certificate *access.Certificate // nil: no TLS
}

// private returns the private address with its files read. It does not listen yet.
func (c *config) private(registry prometheus.Registerer, log *slog.Logger) (*privateAddress, error) {
	p := privateAddress{refusals: requests.NewRefusals(log)}
	p.refused = countRefused(registry, p.refusals)
	rules, err := c.readAccess()
	if err != nil {
		return nil, err
	}
	if rules != nil {
		p.guard = access.NewGuard(rules, p.refused)
	}
	p.certificate, err = loadCertificate(c.tlsCert, c.tlsKey, log)
	return &p, err
}

// loadCertificate reads the certificate of an address, nil if it has none.
func loadCertificate(cert, key string, log *slog.Logger) (*access.Certificate, error) {
	if cert == "" {
		return nil, nil
	}
	return access.LoadCertificate(cert, key, func(err error) {
		if err != nil {
			log.Error("the certificate stays as it was", "err", err)
			return
		}
		log.Info("certificate read", "file", cert)
	})
}

// listen listens on addr, with TLS if there is a certificate.
func listen(addr string, certificate *access.Certificate) (net.Listener, error) {
	ln, err := address.Listen(addr)
	if err != nil || certificate == nil {
		return ln, err
	}
	return tls.NewListener(ln, certificate.Config()), nil
}

// maxDetail bounds the detail of a refusal in the log, in characters.
const maxDetail = 300

// countRefused returns what counts the requests that are refused for want of a permission, and has
// some of them logged. The log has no names: people type passwords there by mistake.
func countRefused(registry prometheus.Registerer, refusals *requests.Refusals) access.Refused {
	refused := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "fieldtrie_access_refused_total",
		Help: "Requests to the private address that were refused, by reason: anonymous, unknown, scope, busy, " +
			"provider, foreign.",
	}, []string{"reason"})
	registry.MustRegister(refused)
	for _, reason := range access.Reasons() { // from 0 on, so that an alert sees the first
		refused.WithLabelValues(string(reason))
	}
	return func(r *http.Request, reason access.Reason, detail error) {
		refused.WithLabelValues(string(reason)).Inc()
		if reason == access.ReasonAnonymous {
			return
		}
		refusals.Note(r, slog.LevelWarn, string(reason), func() []any {
			args := []any{"from", r.RemoteAddr}
			if detail != nil {
				args = append(args, "err", output.Printable(fmt.Sprintf("%.*s", maxDetail, detail)))
			}
			return args
		})
	}
}

// listen begins to listen on addr.
func (p *privateAddress) listen(addr string, log *slog.Logger) error {
	ln, err := listen(addr, p.certificate)
	if err != nil {
		return err
	}
	if p.guard == nil && !address.Local(ln.Addr()) {
		log.Warn("the private address is open to other machines without a login; set --access FILE, or a "+
			"--query-listen of this machine alone such as 127.0.0.1:8419", "private", ln.Addr().String())
	}
	p.Listener = ln
	return nil
}

// handler returns the handler of the private address. A socket, like the one in the data directory,
// serves all of mux: the permissions of its file protect it.
func (p *privateAddress) handler(mux *http.ServeMux, sender *telemetry.Sender) http.Handler {
	var h http.Handler = mux
	switch {
	case p.guard != nil:
		h = p.guard.Handler(mux)
	case p.Addr().Network() == "unix":
	case address.Local(p.Addr()):
		h = access.LocalHosts(mux)
	}
	return p.watched(mux, access.SameOrigin(mux, p.asClients(h), p.refused), sender)
}

// watched gives the requests to h, which come to mux unless h refuses them, their ids, and has them
// logged and traced.
func (p *privateAddress) watched(mux *http.ServeMux, h http.Handler, sender *telemetry.Sender) http.Handler {
	return requests.WithIDs(sender.Private(mux, p.refusals.Of(h)))
}

// asClients adds the client to the context of each request, because queries are scheduled fairly
// among clients. A client is an address with its credentials, or a user whom a proxy names.
func (p *privateAddress) asClients(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		client := access.AddressOf(r) + " " + access.Credentials(r)
		if p.guard != nil {
			client += " " + p.guard.Proxied(r)
		}
		next.ServeHTTP(w, r.WithContext(fair.WithClient(r.Context(), client)))
	})
}

// url returns the URL at which a browser on this machine finds it.
func (p *privateAddress) url() string {
	return urlOf(p.Addr(), p.certificate)
}

func urlOf(addr net.Addr, certificate *access.Certificate) string {
	u := address.URL(addr)
	if rest, ok := strings.CutPrefix(u, "http:"); ok && certificate != nil {
		u = "https:" + rest
	}
	return u
}
