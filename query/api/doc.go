// Package api serves a [query.Source] over HTTP, as openapi.yaml describes it, and queries a remote
// one: [Handler] and [Remote] return the same results.
package api
