// Package authorities is what clients of a daemon need to reach it: they read its address, and have the web's
// certificate authorities on a system without any, such as a container image with a single program.
package authorities

import (
	"crypto/x509"
	"net/http"
	"net/url"
	"sync"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// Transport returns a transport for requests to a URL: a clone of [http.DefaultTransport]. If the
// URL needs certificates and the system has no authorities, this program trusts those of Mozilla's
// list from then on. They are read only then, since that takes longer than everything else at
// startup.
func Transport(to *url.URL) *http.Transport {
	if to.Scheme == "https" {
		complete()
	}
	return http.DefaultTransport.(*http.Transport).Clone()
}

// complete runs once, as the runtime requires.
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
