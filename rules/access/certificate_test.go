package access

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// newPair returns a self-signed certificate for a name, and its key, as PEM.
func newPair(t *testing.T, name string) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
}

func write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// served returns the name in the certificate of a handshake.
func served(t *testing.T, config *tls.Config) string {
	t.Helper()
	client, server := net.Pipe()
	defer func() { _, _ = client.Close(), server.Close() }()
	go func() { _ = tls.Server(server, config).Handshake() }()
	conn := tls.Client(client, &tls.Config{InsecureSkipVerify: true})
	if err := conn.Handshake(); err != nil {
		t.Fatal(err)
	}
	return conn.ConnectionState().PeerCertificates[0].Subject.CommonName
}

func TestCertificate(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	if _, err := LoadCertificate(certFile, keyFile, nil); err == nil || !strings.Contains(err.Error(), "cert.pem") {
		t.Errorf("without files: %v", err)
	}
	cert, key := newPair(t, "one")
	write(t, certFile, cert)
	write(t, keyFile, []byte("no key"))
	if _, err := LoadCertificate(certFile, keyFile, nil); err == nil || !strings.Contains(err.Error(), "key.pem") {
		t.Errorf("with a broken key: %v", err)
	}
	write(t, keyFile, key)
	var changes []error
	c, err := LoadCertificate(certFile, keyFile, func(err error) { changes = append(changes, err) })
	if err != nil {
		t.Fatal(err)
	}
	// later advances the time until the files are checked again.
	later := func() { c.mu.Lock(); c.looked = time.Time{}; c.mu.Unlock() }
	expect := func(what, want string, most ...string) {
		t.Helper()
		if got := served(t, c.Config()); got != want {
			t.Errorf("%s: got the certificate of %s, want %s", what, got, want)
		}
		var got []string
		for _, err := range changes {
			if err == nil {
				got = append(got, "new")
			} else {
				got = append(got, "error")
			}
		}
		if strings.Join(got, " ") != strings.Join(most, " ") {
			t.Errorf("%s: changes %v, want %v", what, changes, most)
		}
	}
	expect("first", "one")
	later()
	expect("unchanged", "one")
	cert2, key2 := newPair(t, "two.example")
	write(t, certFile, cert2)
	expect("within a second", "one")
	later()
	expect("half replaced", "one", "error")
	later()
	expect("still half replaced", "one", "error")
	write(t, keyFile, key2)
	later()
	expect("replaced", "two.example", "error", "new")
	later()
	write(t, certFile, cert2[:len(cert2)/2])
	expect("half written", "two.example", "error", "new", "error")
	later()
	if err := os.Remove(certFile); err != nil {
		t.Fatal(err)
	}
	expect("gone", "two.example", "error", "new", "error", "error")
	write(t, certFile, cert)
	write(t, keyFile, key)
	later()
	expect("back", "one", "error", "new", "error", "error", "new")
}
