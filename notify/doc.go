// Package notify sends notifications about changes: by webhook, Slack, Alertmanager, e-mail,
// Grafana and GitHub.
//
//   - message.go, text.go: messages and the limits of their texts
//   - file.go, channel.go, schedule.go, secret.go: the file of channels, see docs/notifications.md
//   - plan.go, result.go: which messages are sent now, later, as a digest, again or no more;
//     without state and clock
//   - sender.go, address.go: sending, and restrictions of targets
//   - webhook.go, slack.go, …: one file for each kind of channel
//
// The caller stores the messages that are due, and the attempts of the last day:
//
//	plan := file.Plan(due, past, now)
//	for _, batch := range plan.Send {
//		attempt, again, dead := batch.Done(sender.Send(ctx, batch), now)
//		… // keep attempt and again instead of batch.Due; count dead
//	}
//
// Each message is sent at least once. Receivers can drop repeats by its id.
package notify
