// Package receivers tests notifications with what receives them: Alertmanager, a mail server, the
// reference of Standard Webhooks and Grafana's types. It is a module of its own since the project
// needs none of these.
package receivers
