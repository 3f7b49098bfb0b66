package notify

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// source is the origin of a secret, and its value.
type source struct {
	file, env string
	text      string
}

// String hides the secret, for example in logs.
func (s source) String() string { return "(secret)" }

// GoString is like [source.String].
func (s source) GoString() string { return s.String() }

// maxSecret is the maximum size of a secret, in bytes.
const maxSecret = 8 << 10

// ReadSecrets reads the secrets of all channels: files with read, and environment variables with
// getenv. It returns all errors with the lines of the channels.
func (f *File) ReadSecrets(read func(file string) ([]byte, error), getenv func(name string) string) error {
	var wrong []error
	for i := range f.Channels {
		c := &f.Channels[i]
		if err := c.readSecret(read, getenv); err != nil {
			wrong = append(wrong, fmt.Errorf("line %d: channel %s: %w", c.Line, c.Name, err))
		}
	}
	return errors.Join(wrong...)
}

func (c *Channel) readSecret(read func(string) ([]byte, error), getenv func(string) string) error {
	s := &c.secret
	var from string
	switch {
	case s.file != "":
		from = "secret_file " + s.file
		data, err := read(s.file)
		if err != nil {
			return fmt.Errorf("read secret_file: %w", err)
		}
		if len(data) > maxSecret {
			return fmt.Errorf("%s: over %d bytes", from, maxSecret)
		}
		s.text = strings.TrimSpace(string(data))
	case s.env != "":
		from = "secret_env " + s.env
		s.text = strings.TrimSpace(getenv(s.env))
	default:
		return nil // the parser accepts this only if no secret is needed
	}
	if s.text == "" {
		return fmt.Errorf("%s is empty", from)
	}
	if err := conductOf(c.Kind).secret(c, s.text); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	return nil
}

// checkToken returns an error for secrets that cannot be in a header.
func (c *Channel) checkToken(text string) error {
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
		return errors.New("a token must be one line of printable ASCII")
	}
	return nil
}

// minPart is the minimum length in bytes of a path segment or query value that is hidden also
// outside its URL.
const minPart = 12

// discreet removes the secrets of a channel from a text, in all encodings in which receivers repeat
// them.
func (c *Channel) discreet(text string) string {
	secrets := c.secrets()
	if len(secrets) == 0 {
		return text
	}
	// Longest first, so that a part does not match before the whole.
	slices.SortFunc(secrets, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b))
	})
	secrets = slices.Compact(secrets)
	for i, secret := range secrets {
		secrets[i] = escaped(secret)
	}
	pattern, err := regexp.Compile(strings.Join(secrets, "|"))
	if err != nil { // too large
		return "(the response is hidden, since it may contain the secret)"
	}
	return pattern.ReplaceAllLiteralString(text, "(secret)")
}

// secrets returns the secret texts: the secret, its encodings for headers and mail servers, and the
// parts of URLs that identify a sender.
func (c *Channel) secrets() (all []string) {
	secret := c.secret.text
	for _, text := range append(strings.Fields(secret), secret) { // each field is one of several keys
		if text == "" {
			continue
		}
		all = append(all, text)
		for _, coded := range []string{text, c.User + ":" + text, "\x00" + c.User + "\x00" + text} { // PLAIN
			all = append(all, base64.RawStdEncoding.EncodeToString([]byte(coded)))
		}
	}
	if u, err := url.Parse(secret); err == nil && c.Kind == Slack {
		all = append(append(all, u.RequestURI(), u.Path), parts(u, strings.Split(u.Path, "/")...)...)
	}
	if u, err := url.Parse(c.Target); err == nil {
		all = append(all, parts(u)...)
	}
	return all
}

// parts returns the query of a URL, its values, and further texts, unless they are too short.
func parts(u *url.URL, more ...string) []string {
	more = append(more, u.RawQuery)
	for _, values := range u.Query() {
		more = append(more, values...)
	}
	return slices.DeleteFunc(more, func(text string) bool { return len(text) < minPart })
}

// escaped returns a pattern for a text whose characters may be escaped for URLs, JSON or HTML.
func escaped(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r <= unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			b.WriteRune(r)
			continue
		}
		literal := regexp.QuoteMeta(string(r))
		percent := strings.ReplaceAll(fmt.Sprintf("% x", string(r)), " ", "%(?:25)?")
		fmt.Fprintf(&b, `(?:%s|(?i:%%(?:25)?%s|\\u%04x|&#0*%d;|&#x0*%x;)|\\%s|%s)`,
			literal, percent, r, r, r, literal, regexp.QuoteMeta(html.EscapeString(string(r))))
	}
	return b.String()
}

// shown returns a URL without possible secrets: user, password and query.
func shown(target string) string {
	u, err := url.Parse(target)
	if err != nil {
		return "(no URL)"
	}
	u.User = nil
	if u.RawQuery != "" {
		u.RawQuery = "…"
	}
	return u.String()
}
