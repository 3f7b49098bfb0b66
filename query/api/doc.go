// Package api serves a [query.Source] over HTTP, as openapi.yaml describes it, and asks one that is
// served so: [Handler] and [Remote] give the same responses.
package api
