package provider

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"slices"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// Person is a user who logged in.
type Person struct {
	Name   string // verified e-mail address, or else the provider's id, after a name if there is one
	Groups []string
}

// person returns the subject of a token.
func (p *Provider) person(ctx context.Context, known *oidc.Provider, a Attempt, token *oauth2.Token) (*Person, error) {
	raw, ok := token.Extra("id_token").(string)
	if !ok {
		return nil, errors.New("the provider sent no id_token")
	}
	verifier, err := p.verifier(ctx, known)
	if err != nil {
		return nil, err
	}
	id, err := verifier.Verify(ctx, raw)
	if err != nil {
		return nil, refuse("the token of the provider is not valid", err)
	}
	if subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(a.Nonce)) != 1 {
		return nil, refuse("the token of the provider belongs to another login", nil)
	}
	said, err := p.verified(id)
	if err != nil {
		return nil, err
	}
	groupsOf, more := said, claims{}
	// Some providers send groups only in the UserInfo response.
	if _, has := said[p.s.GroupsClaim]; !has && known.UserInfoEndpoint() != "" {
		if more, err = userInfo(ctx, known, token, id.Subject); err != nil {
			return nil, err
		}
		groupsOf = more
	}
	out := &Person{Name: id.Subject}
	email := cmp.Or(more.email(), said.email())
	preferred := cmp.Or(more.text("preferred_username"), said.text("preferred_username"))
	switch {
	case email != "":
		out.Name = email
	case preferred != "": // which users may choose
		out.Name = preferred + " (" + id.Subject + ")"
	}
	if len(out.Name) > maxText {
		return nil, refuse("the name is too long", nil)
	}
	if p.s.GroupsClaim == "email" {
		if email == "" {
			return nil, refuse("the provider has not verified the e-mail address", nil)
		}
		out.Groups = []string{email}
		return out, nil
	}
	if out.Groups, err = texts(groupsOf[p.s.GroupsClaim]); err != nil {
		return nil, refuse(fmt.Sprintf("claim %s is neither a text nor a list of texts", p.s.GroupsClaim), err)
	}
	return out, nil
}

// verified returns the claims of a token that go-oidc has verified. It checks that go-oidc saw
// exactly these names, and checks the claims that go-oidc leaves to its callers.
func (p *Provider) verified(id *oidc.IDToken) (claims, error) {
	said, err := readClaims(id)
	if err != nil {
		return nil, refuse("the token of the provider cannot be read", err)
	}
	for _, name := range []string{"iss", "sub", "aud", "exp", "nonce"} {
		if _, ok := said[name]; !ok {
			return nil, refuse("the token of the provider lacks a claim", errors.New(name))
		}
	}
	if id.Subject == "" {
		return nil, refuse("the token of the provider has an empty claim", errors.New("sub"))
	}
	audience, err := texts(said["aud"])
	parties, wrong := texts(said["azp"])
	another := func(party string) bool { return party != p.s.ClientID }
	if err != nil || wrong != nil || len(audience) > 1 && len(parties) == 0 || slices.ContainsFunc(parties, another) {
		return nil, refuse("the token of the provider was made for another client", errors.Join(err, wrong))
	}
	return said, nil
}

// userInfo requests further claims of the person with this id.
func userInfo(ctx context.Context, known *oidc.Provider, token *oauth2.Token, id string) (claims, error) {
	info, err := known.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return nil, fmt.Errorf("request UserInfo from the provider: %w", err)
	}
	more, err := readClaims(info)
	if err != nil {
		return nil, refuse("the UserInfo response of the provider cannot be read", err)
	}
	if more.text("sub") != id {
		return nil, refuse("the UserInfo response of the provider is about another person", nil)
	}
	return more, nil
}
