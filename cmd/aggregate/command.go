package main

import (
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/fieldtrie/fieldtrie/cmd/aggregate/daemon"
	"github.com/fieldtrie/fieldtrie/encode/formats"
	"github.com/fieldtrie/fieldtrie/internal/commandline"
	"github.com/fieldtrie/fieldtrie/internal/terminal"
	"github.com/fieldtrie/fieldtrie/query/file"
	"github.com/fieldtrie/fieldtrie/query/selection"
)

// command is the parsed command line.
type command struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	now            time.Time

	page, feature, release string
	site                   string
	labels                 []string
	since, until           string
	formatName             string
	output                 string
	rows                   int
	color                  string
	data                   string
	daemon                 daemon.Address
	list                   string
	stats, vitals, cost    bool
	series, total          bool
	stepText               string
	groupBy                []string
	callers, callees       string
	budgets                string
	sinceGiven             bool
	threads                []string
	profile                string
	events, idle, timed    bool
	by, only, owners       string
	wasm                   []string
	maps                   []string
	raw                    bool
	diff                   string
	http                   string
	noBrowser              bool
	files                  []string
	comparing              comparing

	selection selection.Selection
	step      time.Duration // of --series; 0 for one row
	pick      file.Pick
	format    formats.Format
	template  []byte // of format html
}

// listCoverage lists pages with the reasons why page views have no profile.
const listCoverage = "coverage"

// lists are the values of --list. The last one is for files, the others for stored data.
var lists = [...]string{"pages", "features", "releases", listCoverage, "threads"}

// program describes the command line of aggregate, including --help and --version.
func (c *command) program() (*commandline.Program, *commandline.Asked) {
	fs, asked := pflag.NewFlagSet("aggregate", pflag.ContinueOnError), new(commandline.Asked)
	fs.SortFlags = false
	c.flags(fs)
	asked.Add(fs)
	var names []string
	for _, f := range formats.All() {
		names = append(names, f.Name)
	}
	for flag, values := range map[string][]string{"format": names, "list": lists[:], "by": selection.PartsBy(),
		"only": {"mine", "app"}} {
		_ = fs.SetAnnotation(flag, commandline.Values, values) // it fails if the flag is missing
	}
	return &commandline.Program{Name: "aggregate", Summary: "merge and display JavaScript profiles",
		Usage: usage, Sections: []commandline.Section{{Flags: fs}}, Notes: fmt.Sprintf(notes, formatTable())}, asked
}

func (c *command) flags(fs *pflag.FlagSet) {
	fs.StringVarP(&c.page, "page", "p", "", "`PAGE` such as /feed (default all)")
	fs.StringVar(&c.site, "site", "", "only the pages of this `SITE`, if the daemon has several")
	fs.StringVar(&c.feature, "feature", "", "only the time of this `FEATURE`")
	fs.StringVar(&c.release, "release", "", "only this `RELEASE`")
	fs.StringArrayVar(&c.labels, "label", nil,
		"only the time with `KEY=VALUE`, such as phase=load; also KEY!=VALUE, and KEY=~EXPRESSION or "+
			"KEY!~EXPRESSION for regular expressions; repeatable")
	fs.StringVar(&c.since, "since", "24h", "only data received since `TIME`")
	fs.StringVar(&c.until, "until", "", "only data received before `TIME` (default now)")
	fs.StringVarP(&c.formatName, "format", "f", "",
		"`FORMAT` to write (default pprof; for --list, --series, --stats, --vitals, --cost, --budgets and "+
			"comparisons a table; --budgets also as github, junit and sarif)")
	fs.StringVarP(&c.output, "output", "o", "", "`FILE` to write; - is standard output, even a terminal")
	fs.StringVar(&c.color, "color", string(terminal.Auto),
		"colors in tables: auto (on a terminal, unless NO_COLOR is set), always or never")
	fs.IntVar(&c.rows, "rows", 40, "functions that --format top, --stats and comparisons show; -1 shows all")
	fs.BoolVar(&c.total, "total", false,
		"with --format top and tree: the sum over all page views instead of the time per page view")
	fs.StringVar(&c.data, "data", "fieldtrie-data", "data `DIR` of ingest, or s3://BUCKET/PREFIX, or file:///DIR")
	c.daemon.Flags(fs)
	fs.StringVar(&c.list, "list", "",
		"print the `pages`, features or releases with their page views and times, the coverage of pages, or the "+
			"threads of files")
	fs.StringVar(&c.callers, "callers", "",
		"print the callers of `FUNCTION`: its name, or its name and location as printed by --format top")
	fs.StringVar(&c.callees, "callees", "", "print the functions that `FUNCTION` calls")
	fs.BoolVar(&c.series, "series", false, "print page views and their times over time, or by --group-by or --by")
	fs.StringVar(&c.stepText, "step", "",
		"with --series: time range of each row, such as `1h`, or all for one row (default: a few hundred rows)")
	fs.StringSliceVar(&c.groupBy, "group-by", nil,
		"with --series: one row for each value of this `LABEL`, such as release or device; repeatable")
	fs.BoolVar(&c.cost, "cost", false,
		"print what profiling costs visitors: Web Vitals of page views sampled for profiling compared with other "+
			"page views, with 95 % confidence intervals")
	fs.BoolVar(&c.vitals, "vitals", false,
		"print Web Vitals: percentiles of LCP, INP, CLS, FCP and TTFB with 95 % confidence intervals, the shares of "+
			"good and poor page views; with --page also their elements and subparts")
	fs.BoolVar(&c.stats, "stats", false,
		"print the distribution over page views: percentiles with 95 % confidence intervals, by feature, phase and "+
			"function")
	fs.StringVar(&c.budgets, "budgets", "",
		"check the budgets in this YAML `FILE`, and exit with status 3 if one is blown; --page, --release, --label "+
			"and --since narrow their selection")
	fs.StringVar(&c.by, "by", "function",
		"merge calls within one `PART`: function, file, package (npm), team or owner (docs/owners.md)")
	fs.StringVar(&c.only, "only", "",
		"`CODE` to show: mine merges consecutive third-party calls into one node, app adds third-party time to the "+
			"nearest caller in the app")
	fs.StringVar(&c.owners, "owners", "",
		"YAML `FILE` with ownership rules, for --by and --only; a daemon uses its own")
	fs.StringVar(&c.diff, "diff", "", "profile `FILE` to compare with: the output is the difference")
	fs.StringVar(&c.http, "http", "",
		"show the result in a browser, on `[HOST]:PORT` of this machine; :0 selects a free port")
	fs.BoolVar(&c.noBrowser, "no-browser", false, "with --http: print the URL without opening it")
	c.comparing.flags(fs)
	fs.StringArrayVar(&c.wasm, "wasm", nil, "module `FILE` with names for wasm-function[N]; repeatable")
	fs.StringArrayVar(&c.maps, "maps", nil,
		"with files: `DIR` with the scripts and source maps of a build, to name functions; repeatable")
	fs.BoolVar(&c.raw, "raw", false,
		"name functions as browsers reported them, without uploaded symbols or source maps in a file")
	fs.StringArrayVar(&c.threads, "thread", nil,
		"with files: the thread with this `NAME`, number or PROCESS/NUMBER, or all; repeatable (default: the main "+
			"thread in formats for people, all threads in other formats)")
	fs.StringVar(&c.profile, "profile", "",
		"with files: the `SOURCE` or id of the profile to use in a thread with several profiles")
	fs.BoolVar(&c.events, "events", false,
		"with files: merge the events of the browser (tasks, layout, …) with the functions")
	fs.BoolVar(&c.idle, "idle", false, "with files: include idle time")
	fs.BoolVar(&c.timed, "timed", false, "with files: write calls in time order instead of merging them")
}

// formatTable lists the formats and their abilities for --help.
func formatTable() string {
	var b strings.Builder
	for _, f := range formats.All() {
		column := fmt.Sprintf("  %-13s %s", f.Name, f.Abilities())
		for _, text := range []string{f.About, "loses: " + f.Loses} {
			for line := range wrapped(text, 70) {
				fmt.Fprintf(&b, "%-20s %s\n", column, line)
				column = ""
			}
		}
	}
	return b.String()
}

// wrapped yields text in lines of at most width bytes.
func wrapped(text string, width int) iter.Seq[string] {
	return func(yield func(string) bool) {
		line := ""
		for word := range strings.FieldsSeq(text) {
			if line != "" && len(line)+1+len(word) > width {
				if !yield(line) {
					return
				}
				line = ""
			}
			line = strings.TrimPrefix(line+" "+word, " ")
		}
		yield(line)
	}
}
