// Package redact takes personal data and secrets out of texts: e-mail addresses, tokens, numbers of
// cards and phones, queries of URLs. It also tells which segments of a path name one thing among very many.
package redact
