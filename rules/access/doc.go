// Package access authenticates and authorises requests to the private address of a daemon. It reads
// a file of tokens and users:
//
//	tokens:
//	  - name: grafana
//	    sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
//	    scopes: [query]
//	users:
//	  - name: ann
//	    bcrypt: $2y$10$fl/8dALl0ZD4qWj30CnvgeczmaDhiGj9kzhlK1kDA8gu3iqi7Vd3.
//	    scopes: [query, metrics, backup]
//
// The keys sites and pages restrict a token or user to part of the data:
//
//   - name: checkout-team
//     sha256: …
//     sites: [shop]
//     pages: [/checkout/**]
//
// Handlers get the identity from [From] and must apply its restriction.
//
// Requests send a token as "Authorization: Bearer TOKEN", and a user and password as Basic. The
// file contains no plain-text secrets: it has the SHA-256 of tokens, which are long and random, and
// a slow hash of passwords. A token or user without scopes in the file gets query and metrics, or
// only query if it is restricted to sites or pages.
//
// A browser can log in with [Guard.Login] and gets a cookie.
//
// /healthz and /readyz need no credentials, since probes neither carry nor receive secrets. The
// scripts of the dashboard need none either, because they contain no data.
package access
