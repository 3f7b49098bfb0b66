// Package daemon has the flags that name a daemon and the credentials for it.
package daemon

import (
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/fieldtrie/fieldtrie/query/api"
)

// tokenVariable is the environment variable with the token for a daemon.
const tokenVariable = "FIELDTRIE_TOKEN"

// Address holds the flags that name a daemon.
type Address struct {
	Addr      string // "" for no daemon
	TokenFile string // "" for the token in the environment, if any
	CA        string // "" for the system's certificate authorities
}

// Flags defines --addr, --token-file and --ca in fs.
func (a *Address) Flags(fs *pflag.FlagSet) {
	fs.StringVar(&a.Addr, "addr", "",
		"private `ADDR` of a daemon to query instead, such as 127.0.0.1:8419 or https://host:8419")
	fs.StringVar(&a.TokenFile, "token-file", "",
		"`FILE` with the token for the daemon at --addr (default $FIELDTRIE_TOKEN)")
	fs.StringVar(&a.CA, "ca", "",
		"PEM `FILE` with the certificate authorities for the daemon at --addr (default: the system's)")
}

// Check rejects an invalid address, credentials without an address, and a token together with a
// password.
func (a *Address) Check() error {
	if a.Addr != "" {
		if _, err := api.NewRemote(a.Addr); err != nil {
			return fmt.Errorf("--addr: %w", err)
		}
	}
	switch {
	case a.Addr == "" && a.TokenFile != "":
		return errors.New("--token-file is for a daemon with --addr; without one no token is needed")
	case a.Addr == "" && a.CA != "":
		return errors.New("--ca is for a daemon with --addr https://…")
	case a.TokenFile != "" && strings.Contains(a.Addr, "@"):
		return errors.New("--token-file does not go with a user and a password in --addr")
	case a.CA != "" && !strings.HasPrefix(a.Addr, "https://"):
		return errors.New("--ca needs --addr https://…: without TLS there is no certificate to verify")
	}
	return nil
}

// Remote returns a client of the daemon at --addr with the credentials of the command line.
func (a *Address) Remote() (*api.Remote, error) {
	r, err := api.NewRemote(a.Addr)
	if err != nil {
		return nil, fmt.Errorf("--addr: %w", err)
	}
	token, err := a.token()
	if err != nil {
		return nil, err
	}
	if token != "" && !strings.Contains(a.Addr, "@") {
		r.SetToken(token)
	}
	if a.CA == "" {
		return r, nil
	}
	data, err := os.ReadFile(a.CA)
	if err != nil {
		return nil, fmt.Errorf("--ca: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(data) {
		return nil, fmt.Errorf("--ca %s: the file has no PEM certificate", a.CA)
	}
	r.SetRoots(roots)
	return r, nil
}

// token returns the token from --token-file, otherwise from the environment, if any.
func (a *Address) token() (string, error) {
	text, from := os.Getenv(tokenVariable), "$"+tokenVariable
	if a.TokenFile != "" {
		data, err := os.ReadFile(a.TokenFile)
		if err != nil {
			return "", fmt.Errorf("--token-file: %w", err)
		}
		text, from = string(data), "--token-file "+a.TokenFile
	}
	token := strings.TrimSpace(text)
	unfit := func(r rune) bool { return r <= ' ' || r >= 0x7f }
	if a.TokenFile != "" && token == "" || strings.ContainsFunc(token, unfit) {
		return "", fmt.Errorf("%s: a token is one word of ASCII", from)
	}
	return token, nil
}
