package main

import (
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/fieldtrie/fieldtrie/query/api"
)

// tokenVariable is the environment variable with the token for a daemon.
const tokenVariable = "FIELDTRIE_TOKEN"

// checkRemote rejects flags about a daemon at an address if there is none, and two
// kinds of credentials at once.
func (c *command) checkRemote() error {
	switch {
	case c.addr == "" && c.tokenFile != "":
		return errors.New("--token-file is for a daemon with --addr; without one no token is needed")
	case c.addr == "" && c.ca != "":
		return errors.New("--ca is for a daemon with --addr https://…")
	case c.tokenFile != "" && strings.Contains(c.addr, "@"):
		return errors.New("--token-file does not go with a user and a password in --addr")
	case c.ca != "" && !strings.HasPrefix(c.addr, "https://"):
		return errors.New("--ca needs --addr https://…: nothing vouches for a daemon without TLS")
	}
	return nil
}

// remote returns the daemon at --addr, as one that is asked by whom the command line
// names.
func (c *command) remote() (*api.Remote, error) {
	r, err := api.NewRemote(c.addr)
	if err != nil {
		return nil, usageError{fmt.Errorf("--addr: %w", err)}
	}
	token, err := c.token()
	if err != nil {
		return nil, err
	}
	if token != "" && !strings.Contains(c.addr, "@") {
		r.SetToken(token)
	}
	if c.ca == "" {
		return r, nil
	}
	data, err := os.ReadFile(c.ca)
	if err != nil {
		return nil, fmt.Errorf("--ca: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(data) {
		return nil, fmt.Errorf("--ca %s: no certificate as PEM in it", c.ca)
	}
	r.SetRoots(roots)
	return r, nil
}

// token returns the token in --token-file, otherwise that in the environment, if any.
func (c *command) token() (string, error) {
	text, from := os.Getenv(tokenVariable), "$"+tokenVariable
	if c.tokenFile != "" {
		data, err := os.ReadFile(c.tokenFile)
		if err != nil {
			return "", fmt.Errorf("--token-file: %w", err)
		}
		text, from = string(data), "--token-file "+c.tokenFile
	}
	token := strings.TrimSpace(text)
	unfit := func(r rune) bool { return r <= ' ' || r >= 0x7f }
	if c.tokenFile != "" && token == "" || strings.ContainsFunc(token, unfit) {
		return "", fmt.Errorf("%s: it is no token: one word of ASCII", from)
	}
	return token, nil
}
