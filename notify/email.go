package notify

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"html"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"net/smtp"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/authorities"
)

func (c *Channel) checkEmail() (wrong []error) {
	u, err := url.Parse(c.Target)
	switch {
	case err != nil || u.Scheme != "smtp" && u.Scheme != "smtps" || u.Hostname() == "" ||
		strings.Trim(u.Path, "/") != "" || u.RawQuery != "":
		wrong = append(wrong, fmt.Errorf(
			"target: %.100q is not a mail server such as smtp://mail.example.com:587, or "+
				"smtps://mail.example.com:465 for implicit TLS", shown(c.Target)))
	case u.User != nil:
		wrong = append(wrong, errors.New(
			"target: the URL must not have a user and password, since it is printed; use user, and secret_file or "+
				"secret_env"))
	}
	if _, err := mail.ParseAddress(c.From); err != nil {
		wrong = append(wrong, fmt.Errorf("from: %.100q is not an address such as Fieldtrie <fieldtrie@example.com>",
			c.From))
	}
	if len(c.To) == 0 {
		wrong = append(wrong, errors.New("to is missing; write to: [web@example.com]"))
	}
	for _, to := range c.To {
		if _, err := mail.ParseAddress(to); err != nil {
			wrong = append(wrong, fmt.Errorf("to: %.100q is not an address such as web@example.com", to))
		}
	}
	return wrong
}

func sendEmail(ctx context.Context, l *line, b Batch) Result {
	from, to, err := l.channel.addresses()
	if err != nil {
		return Result{Outcome: Refused, Answer: err.Error()}
	}
	letter, err := mailOf(from, to, b, l.now)
	if err != nil {
		return Result{Outcome: Refused, Answer: "write the mail: " + err.Error()}
	}
	client, err := l.greet(ctx)
	if err != nil {
		return answered(err)
	}
	defer func() { _ = client.Close() }()
	return deliver(client, from, to, letter)
}

func (c *Channel) addresses() (from *mail.Address, to []*mail.Address, err error) {
	if from, err = mail.ParseAddress(c.From); err != nil {
		return nil, nil, fmt.Errorf("from: %w", err)
	}
	for _, text := range c.To {
		a, err := mail.ParseAddress(text)
		if err != nil {
			return nil, nil, fmt.Errorf("to: %w", err)
		}
		to = append(to, a)
	}
	return from, to, nil
}

// maxSMTP is the maximum number of bytes read from a mail server.
const maxSMTP = 64 << 10

// bounded is a connection with a limit on the bytes read.
type bounded struct {
	net.Conn
	from io.Reader
}

func (b bounded) Read(p []byte) (int, error) { return b.from.Read(p) }

// greet connects to the mail server with TLS, and logs in if there is a user. It accepts a relay
// without TLS only without a user and with AllowPrivate.
func (l *line) greet(ctx context.Context) (client *smtp.Client, err error) {
	u, err := url.Parse(l.channel.Target)
	if err != nil {
		return nil, err
	}
	port, implicit := "587", u.Scheme == "smtps"
	if implicit {
		port = "465"
	}
	authorities.Transport(&url.URL{Scheme: "https"}) // loads certificate authorities
	raw, err := dialer(l.channel.AllowPrivate).DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(),
		cmp.Or(u.Port(), port)))
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = raw.Close()
		}
	}()
	if deadline, ok := ctx.Deadline(); ok {
		if err := raw.SetDeadline(deadline); err != nil {
			return nil, err
		}
	}
	var conn net.Conn = bounded{raw, io.LimitReader(raw, maxSMTP)}
	settings := &tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12}
	if implicit {
		conn = tls.Client(conn, settings)
	}
	if client, err = smtp.NewClient(conn, u.Hostname()); err != nil {
		return nil, fmt.Errorf("read the greeting of the mail server: %w", err)
	}
	if err := client.Hello(nameOf(raw)); err != nil {
		return nil, fmt.Errorf("send EHLO to the mail server: %w", err)
	}
	offered, _ := client.Extension("STARTTLS")
	switch {
	case implicit:
	case offered:
		if err := client.StartTLS(settings); err != nil {
			return nil, fmt.Errorf("start TLS: %w", err)
		}
	case l.channel.User != "" || !l.channel.AllowPrivate:
		return nil, errors.New(
			"the mail server does not offer TLS; plain SMTP is allowed only without a user, to a private network " +
				"with allow_private: true")
	}
	if l.channel.User != "" {
		if err := client.Auth(l.login(client, u.Hostname())); err != nil {
			return nil, fmt.Errorf("log in as %s: %w", l.channel.User, err)
		}
	}
	return client, nil
}

// nameOf returns the local address, which a client without a host name sends in EHLO.
func nameOf(conn net.Conn) string {
	host, _, err := net.SplitHostPort(conn.LocalAddr().String())
	switch {
	case err != nil:
		return "localhost"
	case strings.Contains(host, ":"):
		return "[IPv6:" + host + "]"
	}
	return "[" + host + "]"
}

// login returns the mechanism to log in: PLAIN if the server offers it, and otherwise LOGIN, which
// is the only mechanism of some servers.
func (l *line) login(client *smtp.Client, host string) smtp.Auth {
	_, known := client.Extension("AUTH")
	if mechanisms := strings.Fields(known); slices.Contains(mechanisms, "LOGIN") &&
		!slices.Contains(mechanisms, "PLAIN") {
		return &login{user: l.channel.User, password: l.channel.secret.text}
	}
	return smtp.PlainAuth("", l.channel.User, l.channel.secret.text, host)
}

// login implements the mechanism LOGIN: the server asks for the user, then for the password.
type login struct {
	user, password string
	asked          int
}

// Start implements [smtp.Auth].
func (a *login) Start(server *smtp.ServerInfo) (string, []byte, error) {
	if !server.TLS {
		return "", nil, errors.New("passwords are not sent without TLS")
	}
	return "LOGIN", nil, nil
}

// Next implements [smtp.Auth].
func (a *login) Next(_ []byte, more bool) ([]byte, error) {
	if !more {
		return nil, nil
	}
	a.asked++
	switch a.asked {
	case 1:
		return []byte(a.user), nil
	case 2:
		return []byte(a.password), nil
	}
	return nil, errors.New("the mail server requests more than a user and a password")
}

// deliver sends a mail. It counts as accepted if the server accepts at least one recipient.
func deliver(client *smtp.Client, from *mail.Address, to []*mail.Address, letter []byte) Result {
	if err := client.Mail(from.Address); err != nil {
		return answered(err)
	}
	var refused []string
	var last error
	for _, a := range to {
		if err := client.Rcpt(a.Address); err != nil {
			refused, last = append(refused, a.Address+": "+err.Error()), err
		}
	}
	if len(refused) == len(to) {
		return answered(last)
	}
	w, err := client.Data()
	if err != nil {
		return answered(err)
	}
	if _, err := w.Write(letter); err != nil {
		return answered(err)
	}
	if err := w.Close(); err != nil {
		return answered(err)
	}
	_ = client.Quit() // the mail is accepted in any case
	if len(refused) > 0 {
		return Result{Outcome: Accepted, Answer: "250, but not for " + strings.Join(refused, ", ")}
	}
	return Result{Outcome: Accepted, Answer: "250: the mail server accepted the mail"}
}

// answered converts an error of a mail server to a result. Codes from 500 on are permanent.
func answered(err error) Result {
	if said, ok := errors.AsType[*textproto.Error](err); ok {
		if said.Code >= 500 {
			return Result{Outcome: Refused, Answer: err.Error()}
		}
		return Result{Outcome: Retry, Answer: err.Error()}
	}
	return unreached(err)
}

// mailOf writes a mail as text and HTML. Its Message-ID is derived from the id of the batch, and
// mails about one change belong to the same thread.
func mailOf(from *mail.Address, to []*mail.Address, b Batch, now time.Time) ([]byte, error) {
	domain := from.Address[strings.LastIndexByte(from.Address, '@')+1:]
	subject, thread := withEvent(b.Due[0].Message), "change-"+token(b.Due[0].Message.Change)
	if len(b.Due) > 1 {
		subject, thread = fmt.Sprintf("%d changes", len(b.Due)), ""
	}
	var out bytes.Buffer
	parts := multipart.NewWriter(&out)
	header := func(name, value string) { fmt.Fprintf(&out, "%s: %s\r\n", name, value) }
	header("From", from.String())
	header("To", addressList(to))
	header("Subject", encoded(subject))
	header("Date", now.UTC().Format(time.RFC1123Z))
	header("Message-ID", "<"+b.ID+"@"+domain+">")
	if thread != "" {
		header("References", "<"+thread+"@"+domain+">")
	}
	header("Auto-Submitted", "auto-generated") // suppresses out-of-office replies
	header("MIME-Version", "1.0")
	header("Content-Type", `multipart/alternative; boundary="`+parts.Boundary()+`"`)
	out.WriteString("\r\n")
	for _, part := range []struct{ kind, text string }{{"plain", textMail(b)}, {"html", htmlMail(b)}} {
		w, err := parts.CreatePart(textproto.MIMEHeader{
			"Content-Type":              {"text/" + part.kind + "; charset=utf-8"},
			"Content-Transfer-Encoding": {"quoted-printable"}})
		if err != nil {
			return nil, err
		}
		q := quotedprintable.NewWriter(w)
		if _, err := io.WriteString(q, part.text); err != nil {
			return nil, err
		}
		if err := q.Close(); err != nil {
			return nil, err
		}
	}
	err := parts.Close()
	return out.Bytes(), err
}

// encoded encodes a header field. Text that looks encoded must be encoded again, or readers would
// decode it.
func encoded(text string) string {
	words := mime.QEncoding.Encode("utf-8", strings.ReplaceAll(text, "=?", "= ?"))
	return strings.ReplaceAll(words, "?= =?", "?=\r\n =?") // line length is limited
}

// addressList joins addresses, one a line, since line length is limited.
func addressList(to []*mail.Address) string {
	texts := make([]string, len(to))
	for i, a := range to {
		texts[i] = a.String()
	}
	return strings.Join(texts, ",\r\n ")
}

// paragraphs returns the texts of a batch for people. A digest has only titles.
func paragraphs(b Batch, title func(string) string, link func(string) string, text func(string) string) (out []string) {
	for _, d := range b.Due[:min(len(b.Due), maxDigest)] {
		out = append(out, title(withEvent(d.Message)))
		if len(b.Due) == 1 {
			for _, t := range d.Message.Lines {
				out = append(out, text(t))
			}
			if labels := labelText(d.Message); labels != "" {
				out = append(out, text(labels))
			}
		}
		if d.Message.Link != "" {
			out = append(out, link(d.Message.Link))
		}
	}
	if more := len(b.Due) - maxDigest; more > 0 {
		out = append(out, text(fmt.Sprintf("and %d more", more)))
	}
	return out
}

func textMail(b Batch) string {
	same := func(s string) string { return s }
	return strings.Join(paragraphs(b, same, same, same), "\n\n") + "\n"
}

func htmlMail(b Batch) string {
	return "<!DOCTYPE html>\n<html><body>\n" + strings.Join(paragraphs(b,
		func(s string) string { return "<h3>" + html.EscapeString(s) + "</h3>" },
		func(s string) string { return `<p><a href="` + html.EscapeString(s) + `">Open in Fieldtrie</a></p>` },
		func(s string) string { return "<p>" + html.EscapeString(s) + "</p>" }), "\n") + "\n</body></html>\n"
}
