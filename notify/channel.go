package notify

import (
	"context"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/rules/feature"
)

// Channel is a receiver of messages, with its filters and limits.
type Channel struct {
	Name   string
	Kind   Kind
	Target string // URL without secrets; empty for Slack, whose URL is secret
	Line   int    // in the file, from 1

	Pages      []string // patterns, see [feature.CheckPage]; none: all
	Owner      string   // owner or team; empty: all
	Events     []Event  // none: all
	Directions []string // "slower", "faster", "moved"; none: all
	MinMS      float64  // minimum size of changes in time; changes in other units pass

	Quiet        *Quiet // nil: none
	Rate         *Rate  // nil: no limit
	AllowPrivate bool   // allow addresses of private networks, see [Sender]

	User string   // user name for the secret: Alertmanager, e-mail
	From string   // e-mail
	To   []string // e-mail
	As   string   // GitHub: asIssue or asComment
	API  string   // GitHub: URL of the API

	secret source
}

// Kind is the kind of a channel's receiver.
type Kind string

const (
	Webhook      Kind = "webhook"
	Slack        Kind = "slack"
	Alertmanager Kind = "alertmanager"
	Email        Kind = "email"
	Grafana      Kind = "grafana"
	GitHub       Kind = "github"
)

func allKinds() []Kind { return []Kind{Webhook, Slack, Alertmanager, Email, Grafana, GitHub} }

// conduct describes the settings and behaviour of a kind of channel.
type conduct struct {
	fields []string                 // fields of this kind, in addition to common ones
	check  func(c *Channel) []error // checks target and these fields; nil: no target
	needs  bool                     // needs a secret
	// secret checks a secret.
	secret func(c *Channel, text string) error
	// Several messages are sent as one digest. Otherwise each message is sent separately.
	digests bool
	// The receiver groups and mutes messages itself, so there are no quiet hours and no rate.
	always bool
	send   func(ctx context.Context, l *line, b Batch) Result
}

func conductOf(k Kind) conduct {
	switch k {
	case Webhook:
		return conduct{check: (*Channel).checkURL, secret: (*Channel).checkSigningSecrets, needs: true, digests: true,
			send: sendWebhook}
	case Slack:
		return conduct{secret: (*Channel).checkSlackURL, needs: true, digests: true, send: sendSlack}
	case Alertmanager:
		return conduct{fields: []string{"user"}, check: (*Channel).checkURL, secret: (*Channel).checkToken,
			always: true, send: sendAlerts}
	case Email:
		return conduct{fields: []string{"user", "from", "to"}, check: (*Channel).checkEmail,
			secret: (*Channel).checkToken, digests: true, send: sendEmail}
	case Grafana:
		return conduct{check: (*Channel).checkURL, secret: (*Channel).checkToken, needs: true, always: true,
			send: sendAnnotation}
	case GitHub:
		return conduct{fields: []string{"as", "api"}, check: (*Channel).checkGitHub, secret: (*Channel).checkToken,
			needs: true, send: sendGitHub}
	}
	return conduct{}
}

// Wants reports whether a channel should get a message. Test messages always pass.
func (c *Channel) Wants(m Message) bool {
	if m.Event == Test {
		return true
	}
	if len(c.Events) > 0 && !slices.Contains(c.Events, m.Event) ||
		len(c.Directions) > 0 && !slices.Contains(c.Directions, m.Labels["direction"]) ||
		c.Owner != "" && c.Owner != m.Labels["owner"] && c.Owner != m.Labels["team"] ||
		m.Milliseconds != nil && *m.Milliseconds < c.MinMS {
		return false
	}
	fits := func(page string) bool {
		return slices.ContainsFunc(c.Pages, func(pattern string) bool { return feature.FitsPage(pattern, page) })
	}
	if len(c.Pages) > 0 && !slices.ContainsFunc(m.Pages, fits) {
		return false
	}
	return c.Kind != GitHub || c.concerns(m)
}

// Where describes the receiver of a channel for people, without secrets.
func (c *Channel) Where() string {
	switch c.Kind {
	case Slack:
		return "Slack"
	case Email:
		return strings.Join(c.To, ", ") + " by " + shown(c.Target)
	}
	return shown(c.Target)
}
