package main

import (
	"crypto/x509"
	"fmt"
	"io"
	"os"
	"strings"
)

// tokenVariable is the environment variable with the token for a daemon.
const tokenVariable = "FIELDTRIE_TOKEN"

// maxSecret bounds files with a token or with certificates, in bytes.
const maxSecret = 1 << 20

// identify sets the client's credentials and certificate authorities.
func (c *command) identify() error {
	token, err := c.token()
	if err != nil {
		return err
	}
	if token != "" && !strings.Contains(c.addr, "@") {
		c.daemon.authorization = "Bearer " + token
	}
	if c.ca == "" {
		return nil
	}
	data, err := readBounded(c.ca, maxSecret)
	if err != nil {
		return fmt.Errorf("--ca: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(data) {
		return fmt.Errorf("--ca %s: the file has no PEM certificate", c.ca)
	}
	c.daemon.trust(roots)
	return nil
}

// token returns the token from --token-file, otherwise from the environment, if any.
func (c *command) token() (string, error) {
	text, from := os.Getenv(tokenVariable), "$"+tokenVariable
	if c.tokenFile != "" {
		data, err := c.readTokenFile()
		if err != nil {
			return "", fmt.Errorf("--token-file: %w", err)
		}
		text, from = string(data), "--token-file "+c.tokenFile
	}
	token := strings.TrimSpace(text)
	unfit := func(r rune) bool { return r <= ' ' || r >= 0x7f }
	if c.tokenFile != "" && token == "" || strings.ContainsFunc(token, unfit) {
		return "", fmt.Errorf("%s: a token is one word of ASCII", from)
	}
	return token, nil
}

func (c *command) readTokenFile() ([]byte, error) {
	if c.tokenFile == "-" {
		return io.ReadAll(io.LimitReader(c.stdin, maxSecret))
	}
	return readBounded(c.tokenFile, maxSecret)
}
