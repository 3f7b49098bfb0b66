package notify

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Limits of Slack, in characters and blocks.
const (
	slackHeader  = 150
	slackText    = 3000
	slackContext = 2000
	slackBlocks  = 50
)

// slackMessage is the body for an incoming webhook of Slack. Text is shown where blocks are not,
// such as in notifications of a phone.
type slackMessage struct {
	Text        string       `json:"text"`
	Blocks      []slackBlock `json:"blocks"`
	UnfurlLinks bool         `json:"unfurl_links"`
	UnfurlMedia bool         `json:"unfurl_media"`
}

type slackBlock struct {
	Type     string       `json:"type"`
	Text     *slackPart   `json:"text,omitempty"`
	Elements []*slackPart `json:"elements,omitempty"`
}

// slackPart is a text. Verbatim disables links, channels and mentions in it.
type slackPart struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Emoji    *bool  `json:"emoji,omitempty"`
	Verbatim bool   `json:"verbatim,omitempty"`
}

func (c *Channel) checkSlackURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || len(u.Path) < 2 {
		return errors.New("not the URL of an incoming webhook, such as https://hooks.slack.com/services/…; Slack " +
			"shows it in an app's Incoming Webhooks")
	}
	if u.Scheme == "http" && !c.AllowPrivate {
		return errors.New("without TLS others could read the secret URL; use https://, or set allow_private: " +
			"true for a receiver in a private network")
	}
	return nil
}

func sendSlack(ctx context.Context, l *line, b Batch) Result {
	return l.judged(l.do(ctx, http.MethodPost, l.channel.secret.text, nil, slackMessageOf(b)))
}

func slackMessageOf(b Batch) slackMessage {
	first := b.Due[0].Message
	if len(b.Due) == 1 {
		return slackOne(first)
	}
	title := fmt.Sprintf("%d changes", len(b.Due))
	s := slackMessage{Text: title, Blocks: []slackBlock{slackTitle(title)}}
	for i, d := range b.Due {
		if len(s.Blocks) == slackBlocks-1 && i < len(b.Due)-1 {
			s.Blocks = append(s.Blocks, slackSmall(fmt.Sprintf("and %d more", len(b.Due)-i)))
			break
		}
		text := slackEscape(withEvent(d.Message), slackText-maxLine-100)
		if link := slackLink(d.Message.Link); link != "" {
			text += "\n" + link
		}
		s.Blocks = append(s.Blocks, slackSection(text))
	}
	return s
}

func slackOne(m Message) slackMessage {
	title := withEvent(m)
	s := slackMessage{Text: slackEscape(title, slackText), Blocks: []slackBlock{slackTitle(title)}}
	for _, text := range m.Lines {
		s.Blocks = append(s.Blocks, slackSection(slackEscape(text, slackText)))
	}
	if text := slackLink(m.Link); text != "" {
		s.Blocks = append(s.Blocks, slackSection(text))
	}
	if text := labelText(m); text != "" {
		s.Blocks = append(s.Blocks, slackSmall(slackEscape(text, slackContext)))
	}
	return s
}

func slackTitle(text string) slackBlock {
	no := false
	return slackBlock{Type: "header", Text: &slackPart{Type: "plain_text", Text: slackEscape(text, slackHeader),
		Emoji: &no}}
}

func slackSection(text string) slackBlock {
	return slackBlock{Type: "section", Text: &slackPart{Type: "mrkdwn", Text: text, Verbatim: true}}
}

func slackSmall(text string) slackBlock {
	return slackBlock{Type: "context", Elements: []*slackPart{{Type: "mrkdwn", Text: text, Verbatim: true}}}
}

// slackLink returns a link. Links of messages contain no character that would end it.
func slackLink(link string) string {
	if link == "" {
		return ""
	}
	return "<" + strings.ReplaceAll(link, "&", "&amp;") + "|Open in Fieldtrie>"
}

// slackEscape escapes the three special characters of Slack, and truncates the escaped text to most
// UTF-16 units.
func slackEscape(text string, most int) string {
	var b strings.Builder
	used := 0
	for _, r := range text {
		piece, size := string(r), 1
		switch r {
		case '&':
			piece, size = "&amp;", 5
		case '<':
			piece, size = "&lt;", 4
		case '>':
			piece, size = "&gt;", 4
		}
		if r > 0xffff {
			size = 2
		}
		if used+size > most-1 {
			b.WriteString("…")
			break
		}
		used += size
		b.WriteString(piece)
	}
	return b.String()
}

// withEvent returns the title, with the event unless that is the usual one, found.
func withEvent(m Message) string {
	if m.Event == Resolved && !strings.HasPrefix(m.Title, "Resolved") {
		return "Resolved: " + m.Title
	}
	return m.Title
}
