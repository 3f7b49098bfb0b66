// Package notify tells people and tools of changes: by webhook, Slack, Alertmanager, e-mail, Grafana and GitHub.
//
//   - message.go, text.go: what is told, and its bounds
//   - file.go, channel.go, schedule.go, secret.go: a file of channels, see docs/notifications.md
//   - plan.go, result.go: which messages are sent now, later, as a digest, again, or not any more; it has no state and no clock
//   - sender.go, address.go: what sends, and to where it does not
//   - webhook.go, slack.go, …: a file for each kind of channel
//
// A caller keeps the messages that are due, and the attempts of a day:
//
//	plan := file.Plan(due, past, now)
//	for _, batch := range plan.Send {
//		attempt, again, dead := batch.Done(sender.Send(ctx, batch), now)
//		… // keep attempt and again instead of batch.Due; count dead
//	}
//
// Each message is sent at least once, with an id by which a receiver can drop a repeat.
package notify
