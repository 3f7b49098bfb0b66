// Package authorities has clients trust the certificate authorities of the web where the system has none, as in an image of
// one program.
package authorities

import (
	"crypto/x509"
	"net/http"
	"net/url"
	"sync"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// Transport returns what carries requests to a URL: a clone of [http.DefaultTransport]. If that takes certificates and the
// system has no authorities, this program trusts those of Mozilla's list from then on. They are not read before, since that
// takes longer than all else at a start.
func Transport(to *url.URL) *http.Transport {
	if to.Scheme == "https" {
		complete()
	}
	return http.DefaultTransport.(*http.Transport).Clone()
}

// complete runs once, as the runtime demands it.
var complete = sync.OnceFunc(func() {
	if system, err := x509.SystemCertPool(); err == nil && !system.Equal(x509.NewCertPool()) {
		return
	}
	pool := x509.NewCertPool()
	for root := range bundle.Roots() {
		cert, err := x509.ParseCertificate(root.Certificate)
		if err != nil {
			panic(err) // the list is a part of the program
		}
		if root.Constraint == nil {
			pool.AddCert(cert)
		} else {
			pool.AddCertWithConstraint(cert, root.Constraint)
		}
	}
	x509.SetFallbackRoots(pool)
})
