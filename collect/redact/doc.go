// Package redact removes personal data and secrets from texts: e-mail addresses, tokens, card and
// phone numbers, query strings of URLs. It also detects path segments that identify one thing among
// very many.
package redact
