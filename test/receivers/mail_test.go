package receivers

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"mime"
	"net"
	"net/mail"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"github.com/fieldtrie/fieldtrie/notify"
)

var certificate tls.Certificate

// The system's certificate authorities are read only once, so the certificate is created before.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := x509.Certificate{SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	if err != nil {
		panic(err)
	}
	certificate = tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	file := filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		panic(err)
	}
	if err := os.Setenv("SSL_CERT_FILE", file); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(dir) // in the system's temporary folder
	os.Exit(code)
}

// server is a mail server that keeps the mails it receives.
type server struct {
	mechanism string                  // offered for authentication
	rcpt      func(to string) error   // nil: accepts all
	data      func(data []byte) error // nil: accepts all
	mu        sync.Mutex
	letters   []envelope
}

type envelope struct {
	from, user string
	to         []string
	data       []byte
}

func (s *server) NewSession(*smtp.Conn) (smtp.Session, error) { return &session{server: s}, nil }

func (s *server) got() []envelope {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.letters)
}

type session struct {
	server *server
	envelope
}

func (s *session) Reset()        { s.envelope = envelope{user: s.user} }
func (s *session) Logout() error { return nil }

func (s *session) AuthMechanisms() []string {
	if s.server.mechanism == "" {
		return nil
	}
	return []string{s.server.mechanism}
}

func (s *session) Auth(mechanism string) (sasl.Server, error) {
	check := func(user, password string) error {
		if user != "me" || password != "pass word" {
			return smtp.ErrAuthFailed
		}
		s.user = user
		return nil
	}
	if mechanism == "LOGIN" {
		return &loginServer{check: check}, nil
	}
	return sasl.NewPlainServer(func(_, user, password string) error { return check(user, password) }), nil
}

// loginServer implements the server side of LOGIN, which go-sasl no longer has.
type loginServer struct {
	check func(user, password string) error
	user  string
	step  int
}

func (l *loginServer) Next(response []byte) (challenge []byte, done bool, err error) {
	l.step++
	switch l.step {
	case 1:
		return []byte("Username:"), false, nil
	case 2:
		l.user = string(response)
		return []byte("Password:"), false, nil
	}
	return nil, true, l.check(l.user, string(response))
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	if s.server.mechanism != "" && s.user == "" {
		return smtp.ErrAuthRequired
	}
	s.from = from
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	if s.server.rcpt != nil {
		if err := s.server.rcpt(to); err != nil {
			return err
		}
	}
	s.to = append(s.to, to)
	return nil
}

func (s *session) Data(r io.Reader) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if s.server.data != nil {
		if err := s.server.data(data); err != nil {
			return err
		}
	}
	s.data = data
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	s.server.letters = append(s.server.letters, s.envelope)
	return nil
}

// start starts a mail server and returns its address. Security is "" for none, "starttls" or "tls".
func start(t *testing.T, s *server, security string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := smtp.NewServer(s)
	srv.Domain = "mail.test"
	srv.ErrorLog = nothing{}
	settings := &tls.Config{Certificates: []tls.Certificate{certificate}}
	scheme := "smtp://"
	switch security {
	case "starttls":
		srv.TLSConfig = settings
	case "tls":
		scheme, l = "smtps://", tls.NewListener(l, settings)
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	t.Cleanup(func() {
		if err := errors.Join(srv.Close(), <-ended); err != nil && !errors.Is(err, smtp.ErrServerClosed) {
			t.Error(err)
		}
	})
	addr := l.Addr().String()
	return scheme + addr
}

type nothing struct{}

func (nothing) Printf(string, ...any) {}
func (nothing) Println(...any)        {}

const letters = `name: m, kind: email, allow_private: true, from: "Fieldtrie <f@example.com>", to: [a@example.com, ` +
	`b@example.com]`

// A mail server accepts mails over STARTTLS and TLS, with each authentication mechanism, and the
// mails are complete.
func TestMail(t *testing.T) {
	for _, test := range []struct{ security, mechanism string }{{"starttls", "PLAIN"}, {"tls", "PLAIN"},
		{"starttls", "LOGIN"}, {"tls", "LOGIN"}, {"starttls", ""}, {"", ""}} {
		s := &server{mechanism: test.mechanism}
		yaml, secret := letters+`, target: "`+start(t, s, test.security)+`"`, ""
		if test.mechanism != "" {
			yaml, secret = yaml+", user: me, secret_env: S", "pass word"
		}
		c := channel(t, "{"+yaml+"}", secret)
		for i, name := range hostile {
			if r := send(t, c, change(notify.Found, "c1", name)); r.Outcome != notify.Accepted {
				t.Fatalf("%s %s: got %+v", test.security, test.mechanism, r)
			}
			got := s.got()
			if len(got) != i+1 {
				t.Fatalf("%q: got %d mails, want %d", name, len(got), i+1)
			}
			e := got[i]
			if e.from != "f@example.com" || !slices.Equal(e.to, []string{"a@example.com", "b@example.com"}) ||
				e.user != map[bool]string{true: "me"}[test.mechanism != ""] {
				t.Errorf("got %s to %v by %q", e.from, e.to, e.user)
			}
			m, err := mail.ReadMessage(bytes.NewReader(e.data))
			if err != nil {
				t.Fatal(err)
			}
			if subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject")); err != nil ||
				subject == "" || strings.ContainsAny(subject, "\r\n") {
				t.Errorf("got %q, %v", subject, err)
			}
			if m.Header.Get("Message-Id") != "<c1-found@example.com>" || len(m.Header["Bcc"]) > 0 {
				t.Errorf("got %v", m.Header)
			}
		}
	}
}

// A rejected mail is retried if the server's status is temporary. No password is sent without TLS.
func TestMailRefused(t *testing.T) {
	later := &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 3, 0}, Message: "later"}
	never := &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "unknown"}
	for _, test := range []struct {
		name   string
		s      server
		tls    string
		user   string
		want   notify.Outcome
		answer string
	}{
		{"all recipients unknown", server{rcpt: func(string) error {
			return never
		}}, "starttls", "", notify.Refused, "550"},
		{"greylisted", server{rcpt: func(string) error { return later }}, "starttls", "", notify.Retry, "451"},
		{"one unknown", server{rcpt: func(to string) error {
			if to == "a@example.com" {
				return never
			}
			return nil
		}}, "starttls", "", notify.Accepted, "but not for a@example.com"},
		{"data later", server{data: func([]byte) error { return later }}, "starttls", "", notify.Retry, "451"},
		{"data never", server{data: func([]byte) error { return never }}, "starttls", "", notify.Refused, "550"},
		{"password without TLS", server{mechanism: "PLAIN"}, "", "me", notify.Retry, "offers no TLS"},
		{"wrong password", server{mechanism: "PLAIN"}, "starttls", "other", notify.Refused, "log in as other"},
		{"wrong password by LOGIN", server{mechanism: "LOGIN"}, "tls", "other", notify.Refused, "log in as other"},
		{"no login", server{mechanism: "PLAIN"}, "starttls", "", notify.Refused, "502"},
	} {
		yaml, secret := letters+`, target: "`+start(t, &test.s, test.tls)+`"`, ""
		if test.user != "" {
			yaml, secret = yaml+", user: "+test.user+", secret_env: S", "pass word"
		}
		r := send(t, channel(t, "{"+yaml+"}", secret), change(notify.Found, "c1", "f"))
		if r.Outcome != test.want || !strings.Contains(r.Answer, test.answer) || strings.Contains(r.Answer,
			"pass word") {
			t.Errorf("%s: got %+v", test.name, r)
		}
		if got := test.s.got(); (len(got) > 0) != (test.want == notify.Accepted) {
			t.Errorf("%s: got %d mails", test.name, len(got))
		}
	}
}
