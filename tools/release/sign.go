package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"aead.dev/minisign"
)

// sign signs the checksums, as minisign -V reads it, if there is a key. The comment is the name of
// the release and not the time, so that the same release has the same signature.
func (r *release) sign() error {
	if r.key == "" {
		return nil
	}
	key, err := readKey(r.key, os.Getenv("MINISIGN_PASSWORD"))
	if err != nil {
		return fmt.Errorf("--sign: %w", err)
	}
	name := filepath.Join(r.out, "SHA256SUMS")
	sums, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	signature := minisign.SignWithComments(key, sums, "fieldtrie "+r.version, "signature of SHA256SUMS")
	return os.WriteFile(name+".minisig", signature, 0o644)
}

// readKey reads a private key of minisign. Only an encrypted key needs the password.
func readKey(name, password string) (key minisign.PrivateKey, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return key, err
	}
	if !minisign.IsEncrypted(text) {
		if err := key.UnmarshalText(text); err != nil {
			return key, fmt.Errorf("%s is not a private key of minisign: %w", name, err)
		}
		return key, nil
	}
	if password == "" {
		return key, errors.New("the key has a password; put it into MINISIGN_PASSWORD")
	}
	if key, err = minisign.DecryptKey(password, text); err != nil {
		return key, fmt.Errorf("the password of %s: %w", name, err)
	}
	return key, nil
}
