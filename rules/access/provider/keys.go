package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
)

// keySet has the keys with which a provider signs tokens. Unlike the key set of go-oidc it is
// fetched before a token is verified, so that an unavailable provider is not reported as a forged
// token.
type keySet []jose.JSONWebKey

// algorithms returns the accepted signature algorithms. None of them uses a shared secret.
func algorithms() []jose.SignatureAlgorithm {
	return []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.ES256, jose.ES384, jose.ES512,
		jose.PS256, jose.PS384, jose.PS512, jose.EdDSA}
}

// verifier returns a verifier of tokens that uses the provider's current keys.
func (p *Provider) verifier(ctx context.Context, known *oidc.Provider) (*oidc.IDTokenVerifier, error) {
	var published struct {
		Keys       string   `json:"jwks_uri"`
		Algorithms []string `json:"id_token_signing_alg_values_supported"`
	}
	if err := known.Claims(&published); err != nil {
		return nil, fmt.Errorf("read the provider's endpoints: %w", err)
	}
	keys, err := p.keys(ctx, published.Keys)
	if err != nil {
		return nil, fmt.Errorf("fetch the provider's keys: %w", err)
	}
	accepted := slices.DeleteFunc(published.Algorithms, func(name string) bool {
		return !slices.Contains(algorithms(), jose.SignatureAlgorithm(name))
	})
	config := &oidc.Config{ClientID: p.s.ClientID, SupportedSigningAlgs: accepted, Now: p.now}
	return oidc.NewVerifier(p.s.Issuer, keys, config), nil
}

// keys fetches the keys at a URL. It ignores encryption keys and keys of unknown types (RFC 7517,
// section 5).
func (p *Provider) keys(ctx context.Context, url string) (keySet, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	res, err := p.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return nil, errors.New(res.Status)
	}
	var sent struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.NewDecoder(res.Body).Decode(&sent); err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	var keys keySet
	for _, text := range sent.Keys {
		var key jose.JSONWebKey
		if json.Unmarshal(text, &key) == nil && (key.Use == "" || key.Use == "sig") {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("no key for signatures")
	}
	return keys, nil
}

// VerifySignature implements [oidc.KeySet].
func (k keySet) VerifySignature(_ context.Context, token string) ([]byte, error) {
	signed, err := jose.ParseSignedCompact(token, algorithms())
	if err != nil {
		return nil, err
	}
	id := signed.Signatures[0].Header.KeyID
	for _, key := range k {
		if id == "" || key.KeyID == id {
			if payload, err := signed.Verify(&key); err == nil {
				return payload, nil
			}
		}
	}
	return nil, errors.New("no key of the provider matches the signature")
}
