// Package rules tests the alerts with Prometheus' own parser and engine. It is a separate module,
// because these have about a hundred dependencies.
package rules
