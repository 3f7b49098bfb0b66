package access

import (
	"crypto/tls"
	"fmt"
	"os"
	"sync"
	"time"
)

// Certificate is the certificate of a server. Its two files may be replaced while the server runs.
// It is safe for concurrent use by multiple goroutines.
type Certificate struct {
	certFile, keyFile string
	changed           func(error)

	mu      sync.Mutex
	current *tls.Certificate
	stamps  [2]stamp  // of the files of current
	looked  time.Time // last check of the files
	said    string    // last reported error
}

// stamp distinguishes a file from its replacement.
type stamp struct {
	modified time.Time
	size     int64
}

// lookEvery is the interval at which handshakes check the files.
const lookEvery = time.Second

// LoadCertificate reads a PEM certificate with its intermediate certificates, and its private key.
// While the certificate is in use, handshakes check the files for changes. changed, unless nil, is
// called with nil after a new certificate was loaded, and with an error if new files are unusable.
// Then the old certificate stays in use, and loading is retried.
func LoadCertificate(certFile, keyFile string, changed func(error)) (*Certificate, error) {
	c := &Certificate{certFile: certFile, keyFile: keyFile, changed: changed}
	if c.changed == nil {
		c.changed = func(error) {}
	}
	stamps, err := c.look()
	if err != nil {
		return nil, err
	}
	return c, c.load(stamps)
}

// Config returns a server configuration with this certificate.
func (c *Certificate) Config() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.get(time.Now()), nil },
	}
}

// get returns the certificate in the files if it is usable, and otherwise the last usable one.
func (c *Certificate) get(now time.Time) *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Sub(c.looked) < lookEvery {
		return c.current
	}
	c.looked = now
	stamps, err := c.look()
	if err == nil && stamps == c.stamps {
		c.said = ""
		return c.current
	}
	if err == nil {
		err = c.load(stamps)
	}
	switch {
	case err == nil:
		c.said = ""
		c.changed(nil)
	case err.Error() != c.said:
		c.said = err.Error()
		c.changed(err)
	}
	return c.current
}

// look returns the current stamps of the files.
func (c *Certificate) look() (stamps [2]stamp, err error) {
	for i, name := range []string{c.certFile, c.keyFile} {
		st, err := os.Stat(name)
		if err != nil {
			return stamps, err
		}
		stamps[i] = stamp{st.ModTime(), st.Size()}
	}
	return stamps, nil
}

// load reads the files. stamps are the stamps from before reading.
func (c *Certificate) load(stamps [2]stamp) error {
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return fmt.Errorf("certificate %s with key %s: %w", c.certFile, c.keyFile, err)
	}
	c.current, c.stamps = &pair, stamps
	return nil
}
