// Package access guards the private address of a daemon: it asks who a request is from,
// and whether they may have what they ask for.
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
// With sites and pages a token or user has a part of what is stored:
//
//   - name: checkout-team
//     sha256: …
//     sites: [shop]
//     pages: [/checkout/**]
//
// Whoever answers asks [From] for whom it is, and sees to it.
//
// A token comes as "Authorization: Bearer TOKEN", a user and a password as Basic. The
// file has no secret in the clear: of tokens, which are long and random, it has the
// SHA-256, of passwords a slow hash. Who has no scopes in the file has query and metrics.
//
// A browser can log in instead, by [Guard.Login], and has a cookie then.
//
// /healthz and /readyz are open, since probes carry no secrets and are told none, and so are the
// scripts of the dashboard, which say nothing but what they are answered.
package access
