// Package daemon says which daemon a command asks, and as whom.
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

// Address is what the flags for a daemon say.
type Address struct {
	Addr      string // "": there is none
	TokenFile string // "": the token is in the environment, if there is one
	CA        string // "": the authorities are those of the system
}

// Flags adds the flags.
func (a *Address) Flags(fs *pflag.FlagSet) {
	fs.StringVar(&a.Addr, "addr", "", "private `ADDR` of a daemon to ask instead, such as 127.0.0.1:8419 or https://host:8419")
	fs.StringVar(&a.TokenFile, "token-file", "", "`FILE` with the token for the daemon at --addr (default $FIELDTRIE_TOKEN)")
	fs.StringVar(&a.CA, "ca", "", "PEM `FILE` with the certificate authorities for the daemon at --addr (default those of the system)")
}

// Check rejects an address that is none, flags about a daemon at an address if there is none, and two kinds of credentials at once.
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
		return errors.New("--ca needs --addr https://…: nothing vouches for a daemon without TLS")
	}
	return nil
}

// Remote returns the daemon at --addr, as one that is asked by whom the command line names.
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
		return nil, fmt.Errorf("--ca %s: no certificate as PEM in it", a.CA)
	}
	r.SetRoots(roots)
	return r, nil
}

// token returns the token in --token-file, otherwise that in the environment, if any.
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
		return "", fmt.Errorf("%s: it is no token: one word of ASCII", from)
	}
	return token, nil
}
