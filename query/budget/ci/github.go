package ci

import (
	"fmt"
	"io"
	"strings"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/query/budget"
)

// writeGitHub writes workflow commands of GitHub Actions, which become annotations of the file of
// budgets. Budgets that are met have none. See
// https://docs.github.com/actions/reference/workflow-commands-for-github-actions.
func writeGitHub(w io.Writer, e Evaluation) error {
	for i := range e.Budgets {
		s := &e.Budgets[i]
		command, title := "", ""
		switch s.Verdict {
		case budget.Blown:
			command, title = "error", "Budget blown: "
		case budget.Failed:
			command, title = "error", "Budget failed: "
		case budget.TooFew, budget.NoData:
			command, title = "notice", "Budget with "+string(s.Verdict)+": "
		default:
			continue
		}
		_, err := fmt.Fprintf(w, "::%s file=%s,line=%d,title=%s::%s\n", command, property(e.File), s.Line,
			property(title+output.Printable(s.Name)), data(message(s)))
		if err != nil {
			return err
		}
	}
	return nil
}

// data and property escape the parts of a workflow command after and before its colons.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(s))
}
