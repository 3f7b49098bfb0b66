// Package notify tells people and tools of changes: by webhook, Slack, Alertmanager, e-mail,
// Grafana and GitHub.
package notify
