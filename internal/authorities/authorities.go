// Package authorities has the certificate authorities of the web for systems without any, such as an
// image of one program.
package authorities

import (
	"crypto/x509"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// Complete lets this program trust the authorities of Mozilla's list, unless the system has some of its own. A program calls it
// once, before its first connection. The list is read only where it is needed, since that takes a third of what all else at a
// start allocates.
func Complete() {
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
}
