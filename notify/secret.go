package notify

import (
	"errors"
	"fmt"
	"strings"
)

// source is where a secret comes from, and the secret.
type source struct {
	file, env string
	text      string
}

// String keeps the secret out of logs.
func (s source) String() string { return "(secret)" }

// GoString is [source.String].
func (s source) GoString() string { return s.String() }

// maxSecret bounds a secret, in bytes.
const maxSecret = 8 << 10

// ReadSecrets reads the secrets of all channels: of files with read, of the environment with getenv. It returns all that is
// wrong with them, with the lines of the channels.
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
		return nil // the parser knows that it needs none
	}
	if s.text == "" {
		return fmt.Errorf("%s: it is empty", from)
	}
	if err := conductOf(c.Kind).secret(s.text); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	return nil
}

// checkToken refuses secrets that can not stand in a header.
func checkToken(text string) error {
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
		return errors.New("a token is one line of printable ASCII")
	}
	return nil
}
