package notify

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/internal/strictyaml"
	"github.com/fieldtrie/fieldtrie/rules/feature"
)

// File is a parsed file of channels.
type File struct {
	// Dashboard is the public URL of the dashboard, for links; empty: no links.
	Dashboard string
	Channels  []Channel
}

const (
	maxChannels = 50
	maxName     = 64  // bytes
	maxText     = 500 // bytes of a field
	maxItems    = 50  // entries of a list
)

// Parse parses a file, see docs/notifications.md. It returns all errors with their lines. It does
// not read secrets, see [File.ReadSecrets].
func Parse(r io.Reader) (*File, error) {
	v, err := strictyaml.Read(r)
	if err != nil {
		return nil, err
	}
	var f File
	top := fieldsOf(v, "channels", "dashboard")
	f.Dashboard = top.text("dashboard")
	if f.Dashboard != "" {
		if err := checkWebURL(f.Dashboard); err != nil {
			top.failIf("dashboard", fmt.Errorf("dashboard: %w", err))
		}
	}
	items, err := top.fields["channels"].Items()
	top.fail(err)
	if len(items) == 0 && err == nil {
		top.fail(errors.New("no channel; add one to the list channels"))
	}
	if len(items) > maxChannels {
		return nil, top.fields["channels"].Errorf("%d channels, the most is %d", len(items), maxChannels)
	}
	for _, item := range items {
		c, err := parseChannel(item)
		top.fail(err)
		if c.Name != "" && slices.ContainsFunc(f.Channels, func(other Channel) bool { return other.Name == c.Name }) {
			top.fail(item.Errorf("duplicate channel %s", c.Name))
		}
		f.Channels = append(f.Channels, c)
	}
	if err := errors.Join(top.wrong...); err != nil {
		return nil, err
	}
	return &f, nil
}

// Channel returns the channel with a name, or nil.
func (f *File) Channel(name string) *Channel {
	for i := range f.Channels {
		if f.Channels[i].Name == name {
			return &f.Channels[i]
		}
	}
	return nil
}

func parseChannel(item strictyaml.Value) (Channel, error) {
	common := []string{"name", "kind", "target", "secret_file", "secret_env", "pages", "owner", "events", "directions",
		"min_ms", "quiet_hours", "rate", "allow_private"}
	var own []string
	for _, k := range allKinds() {
		own = append(own, conductOf(k).fields...)
	}
	slices.Sort(own)
	s := fieldsOf(item, append(common, slices.Compact(own)...)...)
	c := Channel{Line: item.Line(), Name: s.text("name"), Kind: Kind(s.text("kind")), Target: s.text("target"),
		Owner: s.text("owner"),
		User:  s.text("user"), From: s.text("from"), As: s.text("as"), API: s.text("api"),
		AllowPrivate: s.yes("allow_private"),
		secret:       source{file: s.text("secret_file"), env: s.text("secret_env")}}
	if unfit := func(r rune) bool {
		return r <= ' ' || r == 0x7f
	}; c.Name == "" || len(c.Name) > maxName || strings.ContainsFunc(c.Name, unfit) {
		s.fail(item.Errorf("name %.70q: use a name of up to %d bytes, without spaces", c.Name, maxName))
	}
	s.filters(&c)
	if text := s.text("quiet_hours"); text != "" {
		var err error
		c.Quiet, err = parseQuiet(text)
		s.failIf("quiet_hours", err)
	}
	if text := s.text("rate"); text != "" {
		var err error
		c.Rate, err = parseRate(text)
		s.failIf("rate", err)
	}
	if c.To = s.texts("to"); !slices.Contains(allKinds(), c.Kind) {
		s.fail(item.Errorf("kind %.40q: known are %s", c.Kind, joined(allKinds())))
		return c, errors.Join(s.wrong...)
	}
	s.kind(&c, item, own)
	return c, errors.Join(s.wrong...)
}

// kind checks the fields that depend on the kind of a channel. own are the fields that only some
// kinds have.
func (s *set) kind(c *Channel, item strictyaml.Value, own []string) {
	how := conductOf(c.Kind)
	for _, field := range own {
		if _, there := s.fields[field]; there && !slices.Contains(how.fields, field) {
			s.failIf(field, fmt.Errorf("%s: a channel of kind %s has no such field", field, c.Kind))
		}
	}
	if how.always {
		for _, field := range []string{"quiet_hours", "rate"} {
			if _, there := s.fields[field]; there {
				s.failIf(field, fmt.Errorf("%s: not supported for %s; remove this field", field, c.Kind))
			}
		}
	}
	switch secrets := min(1, len(c.secret.file)) + min(1, len(c.secret.env)); {
	case secrets > 1:
		s.fail(item.Errorf("channel %s: secret_file and secret_env: only one of them", c.Name))
	case secrets == 0 && (how.needs || c.User != ""):
		s.fail(item.Errorf("channel %s: the secret is missing; set secret_file to a file, or secret_env to an "+
			"environment variable", c.Name))
	case secrets == 1 && c.Kind == Email && c.User == "":
		s.fail(item.Errorf("channel %s: a secret without a user; set user", c.Name))
	}
	if how.check == nil {
		if c.Target != "" {
			s.failIf("target",
				fmt.Errorf("target: the URL of %s is secret; remove target, and put the URL into secret_file or "+
					"secret_env", c.Kind))
		}
		return
	}
	for _, err := range how.check(c) {
		s.fail(item.Errorf("channel %s: %w", c.Name, err))
	}
}

// filters parses which messages a channel gets.
func (s *set) filters(c *Channel) {
	c.Pages = s.texts("pages")
	for _, p := range c.Pages {
		s.failIf("pages", feature.CheckPage(p))
	}
	for _, text := range s.texts("events") {
		if c.Events = append(c.Events, Event(text)); text != string(Found) && text != string(Resolved) {
			s.failIf("events", fmt.Errorf("events: %.40q is neither %s nor %s", text, Found, Resolved))
		}
	}
	c.Directions = s.texts("directions")
	for _, text := range c.Directions {
		if known := []string{"slower", "faster", "moved"}; !slices.Contains(known, text) {
			s.failIf("directions", fmt.Errorf("directions: %.40q is not one of %s", text, strings.Join(known, ", ")))
		}
	}
	var err error
	c.MinMS, err = s.fields["min_ms"].Float()
	s.fail(err)
	if c.MinMS < 0 {
		s.failIf("min_ms", errors.New("min_ms is negative"))
	}
}

// set is a mapping's fields with their errors.
type set struct {
	fields map[string]strictyaml.Value
	wrong  []error
}

func fieldsOf(v strictyaml.Value, known ...string) *set {
	fields, err := v.Fields(known...)
	return &set{fields: fields, wrong: []error{err}}
}

func (s *set) fail(err error) { s.wrong = append(s.wrong, err) }

// failIf adds err, unless nil, with the line of a field.
func (s *set) failIf(field string, err error) {
	if err != nil {
		s.fail(s.fields[field].Errorf("%w", err))
	}
}

// text returns a field, or "" if it is missing. A field that is present must not be empty.
func (s *set) text(field string) string {
	v, there := s.fields[field]
	if !there {
		return ""
	}
	return s.read(field, v)
}

func (s *set) read(field string, v strictyaml.Value) string {
	text, err := v.Text()
	if err != nil {
		s.fail(err)
		return ""
	}
	unfit := func(r rune) bool { return r < ' ' || r == 0x7f }
	if text == "" || len(text) > maxText || strings.ContainsFunc(text, unfit) {
		s.fail(v.Errorf("%s: use a text of up to %d bytes, without control characters", field, maxText))
		return ""
	}
	return text
}

// texts returns a list of texts.
func (s *set) texts(field string) (texts []string) {
	items, err := s.fields[field].Items()
	s.fail(err)
	if len(items) > maxItems {
		s.failIf(field, fmt.Errorf("%s: %d entries, the most is %d", field, len(items), maxItems))
		return nil
	}
	for _, item := range items {
		if text := s.read(field, item); text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

func (s *set) yes(field string) bool {
	text := s.text(field)
	if text != "" && text != "true" && text != "false" {
		s.failIf(field, fmt.Errorf("%s: %.40q is neither true nor false", field, text))
	}
	return text == "true"
}

func (c *Channel) checkURL() []error {
	if err := checkWebURL(c.Target); err != nil {
		return []error{fmt.Errorf("target: %w", err)}
	}
	return nil
}

// checkWebURL returns an error unless text is an HTTP URL without a password, which would be
// printed.
func checkWebURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Fragment != "" {
		return errors.New("not a URL such as https://example.com/path")
	}
	if u.User != nil {
		return errors.New("the URL must not have a user and password, since it is printed; use secret_file or " +
			"secret_env")
	}
	return nil
}

func joined[T ~string](list []T) string {
	texts := make([]string, len(list))
	for i, t := range list {
		texts[i] = string(t)
	}
	return strings.Join(texts, ", ")
}
