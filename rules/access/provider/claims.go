package provider

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// claims are the claims of a token or a UserInfo response, by name. Names are compared exactly;
// decoding into a struct would ignore case.
type claims map[string]json.RawMessage

// readClaims reads the claims of a token or a response. It refuses names that differ only in case,
// because go-oidc would use the last of them.
func readClaims(from interface{ Claims(into any) error }) (claims, error) {
	var c claims
	if err := from.Claims(&c); err != nil {
		return nil, err
	}
	seen := map[string]string{}
	for name := range c {
		folded := strings.ToUpper(strings.ToLower(name)) // both, for characters such as the Kelvin sign
		if other, ok := seen[folded]; ok {
			return nil, fmt.Errorf("claims %.50q and %.50q differ only in case", other, name)
		}
		seen[folded] = name
	}
	return c, nil
}

// text returns a claim that is a single text, or "".
func (c claims) text(name string) string {
	if list, err := texts(c[name]); err == nil && len(list) == 1 {
		return list[0]
	}
	return ""
}

// email returns the e-mail address if the same document says that it is verified, or "".
func (c claims) email() string {
	if v := string(c["email_verified"]); v == "true" || v == `"true"` { // some providers send a string
		return c.text("email")
	}
	return ""
}

// texts parses a claim that is a text or a list of texts. A missing claim is an empty list.
func texts(claim []byte) (list []string, err error) {
	if len(claim) == 0 || string(claim) == "null" {
		return nil, nil
	}
	if claim[0] == '"' {
		list = []string{""}
		err = json.Unmarshal(claim, &list[0])
	} else {
		err = json.Unmarshal(claim, &list)
	}
	if err != nil {
		return nil, err
	}
	if len(list) > maxGroups {
		return nil, errors.New("too many")
	}
	for _, text := range list {
		if len(text) > maxText {
			return nil, errors.New("too long")
		}
	}
	return list, nil
}
