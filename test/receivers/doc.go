// Package receivers tests notifications with real receivers: Alertmanager, a mail server, the
// reference implementation of Standard Webhooks and Grafana's types. It is a separate module,
// because the project itself needs none of these.
package receivers
