package commandline

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/fieldtrie/fieldtrie/internal/spelling"
)

// Parse parses arguments. The error of a flag that there is not names the one that may be meant. It is
// [pflag.ErrHelp] where help is asked for.
func Parse(fs *pflag.FlagSet, args []string) error {
	err := fs.Parse(args)
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok || unknown.GetSpecifiedShortnames() != "" {
		return err
	}
	var known []string
	fs.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	})
	if near := spelling.Likely(unknown.GetSpecifiedName(), known); len(near) > 0 {
		return fmt.Errorf("%w; did you mean --%s?", err, near[0])
	}
	return err
}
