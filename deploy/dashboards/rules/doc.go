// Package rules tests the alerts with Prometheus' own parser and engine. It is a module of its own, as these bring a
// hundred others.
package rules
