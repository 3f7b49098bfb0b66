// Package access guards the private address of a daemon: it authenticates and authorises
// requests.
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
// sites and pages restrict a token or user to a part of the data:
//
//   - name: checkout-team
//     sha256: …
//     sites: [shop]
//     pages: [/checkout/**]
//
// Handlers get the identity from [From] and must apply the restriction.
//
// A token comes as "Authorization: Bearer TOKEN", a user and a password as Basic. The file has
// no secret in plain text: it has the SHA-256 of tokens, which are long and random, and a slow
// hash of passwords. Without scopes in the file a token or user has query and metrics, or only
// query if it is restricted to sites or pages.
//
// A browser can log in instead, by [Guard.Login], and gets a cookie.
//
// /healthz and /readyz are open, since probes neither carry nor receive secrets. So are the
// scripts of the dashboard, which contain no data.
package access
