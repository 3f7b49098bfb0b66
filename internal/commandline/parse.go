package commandline

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/pflag"

	"github.com/fieldtrie/fieldtrie/internal/spelling"
)

// Parse parses arguments. For an unknown flag, the error suggests a similar one. It returns
// [pflag.ErrHelp] for --help.
func Parse(fs *pflag.FlagSet, args []string) error {
	err := fs.Parse(args)
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok || unknown.GetSpecifiedShortnames() != "" {
		return err
	}
	if unknown.GetSpecifiedName() == "json" && fs.Lookup("format") != nil {
		return fmt.Errorf("%w; did you mean --format json?", err)
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

// Words converts the words help and version at the beginning of arguments to flags: "help report"
// becomes "report --help". If a file has that name, the word stays.
func Words(args []string) []string {
	if len(args) == 0 || args[0] != "help" && args[0] != "version" {
		return args
	}
	if _, err := os.Stat(args[0]); err == nil {
		return args
	}
	return append(slices.Clone(args[1:]), "--"+args[0])
}
