// Package authorities helps clients to reach a daemon: it parses its address, and provides the
// web's certificate authorities on systems without any, such as a container image with a single
// program.
package authorities

import (
	"crypto/x509"
	"net/http"
	"net/url"
	"sync"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// Transport returns a transport for requests to a URL: a clone of [http.DefaultTransport]. If the
// URL needs certificates and the system has no authorities, the process trusts Mozilla's list from
// then on. The list is loaded lazily, because that takes longer than everything else at startup.
func Transport(to *url.URL) *http.Transport {
	if to.Scheme == "https" {
		complete()
	}
	return http.DefaultTransport.(*http.Transport).Clone()
}

// complete sets the fallback roots, which the runtime allows only once.
var complete = sync.OnceFunc(func() {
	if system, err := x509.SystemCertPool(); err == nil && !system.Equal(x509.NewCertPool()) {
		return
	}
	pool := x509.NewCertPool()
	for root := range bundle.Roots() {
		cert, err := x509.ParseCertificate(root.Certificate)
		if err != nil {
			panic(err) // the list is embedded in the program
		}
		if root.Constraint == nil {
			pool.AddCert(cert)
		} else {
			pool.AddCertWithConstraint(cert, root.Constraint)
		}
	}
	x509.SetFallbackRoots(pool)
})
