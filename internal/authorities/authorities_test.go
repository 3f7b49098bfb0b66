package authorities

import (
	"crypto/x509"
	"net/url"
	"os"
	"os/exec"
	"testing"
)

// Without system authorities, simulated in a child process, TLS requests use the embedded list.
func TestNone(t *testing.T) {
	if os.Getenv("WITHOUT_AUTHORITIES") == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestNone$")
		cmd.Env = append(os.Environ(), "WITHOUT_AUTHORITIES=1", "SSL_CERT_FILE="+os.DevNull,
			"SSL_CERT_DIR="+t.TempDir())
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return
	}
	count := func() int {
		pool, err := x509.SystemCertPool()
		if err != nil {
			t.Fatal(err)
		}
		//lint:ignore SA1019 no other way to count
		return len(pool.Subjects())
	}
	Transport(&url.URL{Scheme: "http"})
	if n := count(); n != 0 {
		t.Fatalf("got %d authorities, want none yet", n)
	}
	Transport(&url.URL{Scheme: "https"})
	Transport(&url.URL{Scheme: "https"})
	if n := count(); n < 100 {
		t.Fatalf("got %d authorities, want the web's", n)
	}
}
