package redact

import (
	"regexp"
	"slices"
	"strings"
)

// A pair is a name with = and a value, or a member in JSON or JavaScript. Names of features contain
// colons, as in "password: forgotten", so a colon counts only after a quote.
var (
	pairName  = regexp.MustCompile(`([\w.-]+)(?:( ?= ?)|\\?["']\s*:\s*)`)
	pairValue = regexp.MustCompile(`^(?:"[^"]*"?|'[^']*'?|[^\s"'&;=>][^\s"'&;]*)`) // no value after => and ==
	jsonValue = regexp.MustCompile(`^(?:\\?"[^"]*"?|'[^']*'?|[^\s"',{}\[\]]+)`)
	pathValue = regexp.MustCompile(`^[^/;?#\s]*`)
)

// withoutSecretValues replaces the values of secret names. A parameter of a path is removed
// completely, because it differs from view to view or is missing.
func withoutSecretValues(s string) string {
	var b strings.Builder
	end := 0
	for _, m := range pairName.FindAllStringSubmatchIndex(s, -1) {
		from, name := m[1], s[m[2]:m[3]]
		if from < end || !saysSecret(name) {
			continue
		}
		value, instead := jsonValue, "(secret)"
		switch {
		case m[4] < 0:
		case m[2] > 0 && s[m[2]-1] == ';':
			from, value, instead = m[2]-1, pathValue, ""
		default:
			value = pairValue
		}
		to := m[1] + len(value.FindString(s[m[1]:]))
		if m[4] < 0 {
			to = max(to, m[1]+nested(s[m[1]:]))
		}
		if to == m[1] && instead != "" {
			continue
		}
		b.WriteString(s[end:from])
		b.WriteString(instead)
		end = to
	}
	b.WriteString(s[end:])
	return b.String()
}

// nested returns the length of the object or list at the start of s, up to its last bracket or,
// without that, to the end of s. It returns 0 if there is none.
func nested(s string) int {
	if s == "" || s[0] != '{' && s[0] != '[' {
		return 0
	}
	depth, quote := 0, byte(0)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}

// Many names that end in key are not secret: sortKey, data-key. These variables are read-only.
var (
	secretNames   = []string{"cvc", "cvv", "key", "sid", "sess", "session", "auth", "authorization", "bearer", "tokens"}
	secretEndings = []string{"token", "secret", "secrets", "password", "passwords", "passwd", "pwd", "passphrase",
		"credential", "credentials", "jwt", "sessionid", "sessid", ".sid",
		"apikey", "accesskey", "accountkey", "authkey", "clientkey", "licensekey", "privatekey", "secretkey",
		"signingkey"}
	joints = strings.NewReplacer("_", "", "-", "")
)

// saysSecret reports whether a value with this name is secret.
func saysSecret(name string) bool {
	name = joints.Replace(strings.ToLower(name))
	return slices.Contains(secretNames, name) ||
		slices.ContainsFunc(secretEndings, func(end string) bool { return strings.HasSuffix(name, end) })
}
