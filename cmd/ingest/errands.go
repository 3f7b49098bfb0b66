package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"golang.org/x/term"

	"github.com/fieldtrie/fieldtrie/cmd/ingest/address"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/internal/spelling"
	"github.com/fieldtrie/fieldtrie/notify"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared"
)

// errands are one-off actions instead of serving.
type errands struct {
	restore string // create --data from this backup or other data
	verify  bool   // check the data
	repair  bool   // and make sums again

	testNotification string // send a test message to this channel
}

// validate refuses errands that do not go together.
func (e *errands) validate() error {
	switch {
	case e.restore != "" && e.verify:
		return errors.New("only one of --restore and --verify at a time")
	case e.testNotification != "" && (e.restore != "" || e.verify):
		return errors.New("--test-notification does not go with --restore and --verify")
	case e.repair && !e.verify:
		return errors.New("--repair: it goes with --verify")
	}
	return nil
}

// any reports whether there is something to do instead of serving.
func (e *errands) any() bool {
	return e.restore != "" || e.verify || e.testNotification != ""
}

// errand does what is to be done instead of serving.
func (c *config) errand(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) error {
	switch {
	case c.verify:
		return c.verifyData(ctx, stdout, stderr)
	case c.testNotification != "":
		return c.testChannel(ctx, stdout)
	}
	return c.restoreData(ctx, stdin, stdout, stderr)
}

// Objects of an errand are large, and no client waits for it.
const errandGiveUp = 2 * time.Minute

// errandLog returns a log of the problems of an errand.
func (c *config) errandLog(stderr io.Writer) *slog.Logger {
	return c.logger(stderr, slog.LevelWarn)
}

// nodeOf opens a store for an errand.
func (c *config) nodeOf(ctx context.Context, b objects.Store, stderr io.Writer) (*shared.Node, error) {
	ctx, cancel := context.WithTimeout(ctx, openWait)
	defer cancel()
	return shared.Open(ctx, b, shared.Options{GiveUp: errandGiveUp, Logger: c.errandLog(stderr)})
}

// verifyData checks the data, and repairs what can be.
func (c *config) verifyData(ctx context.Context, stdout, stderr io.Writer) error {
	b, err := c.openPlace(ctx, !c.repair, c.errandLog(stderr))
	if err != nil {
		return err
	}
	r, err := shared.OpenReader(ctx, b, shared.Options{})
	if err != nil {
		return err
	}
	p := newProgress(stderr, "verifying")
	v, err := r.Verify(ctx, p.moving)
	p.clear()
	if err != nil {
		return err
	}
	for _, f := range v.Findings {
		fmt.Fprintf(stdout, "%s: %s; %s\n", f.Object, output.Printable(f.What), f.Do)
	}
	mended := 0
	if c.repair && len(v.Findings) > 0 {
		n, err := c.nodeOf(ctx, b, stderr)
		if err != nil {
			return err
		}
		if mended, err = n.Repair(ctx, v); err != nil {
			return err
		}
	}
	wrong := 0
	for _, f := range v.Findings {
		if !c.repair || !f.Mends {
			wrong++
		}
	}
	if _, err := fmt.Fprintf(stdout, "verified %s: %s with %s: %s found, %d repaired, in %.1f s\n",
		b.Name(), english.Plural(v.Objects, "object", ""), english.Plural(int(v.Traces), "trace", ""),
		english.Plural(len(v.Findings), "problem", ""), mended, time.Since(p.started).Seconds()); err != nil {
		return err
	}
	if wrong > 0 {
		return fmt.Errorf("%s: %s left", b.Name(), english.Plural(wrong, "problem", ""))
	}
	return nil
}

// progress shows how far an errand is: all the time on a terminal, and now and then elsewhere.
type progress struct {
	w             io.Writer
	verb          string
	terminal      bool
	started, said time.Time
}

// How often it is said.
const (
	sayOnTerminal = 200 * time.Millisecond
	sayElsewhere  = 30 * time.Second
)

func newProgress(w io.Writer, verb string) *progress {
	return &progress{w: w, verb: verb, terminal: isTerminal(w), started: time.Now(), said: time.Now()}
}

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// moving prints the progress, at intervals.
func (p *progress) moving(done, of int, traces uint64) {
	now := time.Now()
	every := sayElsewhere
	if p.terminal {
		every = sayOnTerminal
	}
	if now.Sub(p.said) < every {
		return
	}
	p.said = now
	text := fmt.Sprintf("%s: %d of %d hours and days, %s traces, %s a second", p.verb, done, of,
		humanize.Comma(int64(traces)), humanize.Comma(int64(float64(traces)/now.Sub(p.started).Seconds())))
	if p.terminal {
		fmt.Fprintf(p.w, "\r\x1b[K%s", text)
		return
	}
	fmt.Fprintf(p.w, "ingest: %s\n", text)
}

// clear removes what is shown on a terminal.
func (p *progress) clear() {
	if p.terminal {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

// healthyWait is the timeout of a health check. A stuck daemon responds immediately.
const healthyWait = 5 * time.Second

// askHealth checks the health of the daemon with these settings on this machine, for service
// managers that can only run programs, such as container runtimes.
func (c *config) askHealth(ctx context.Context) error {
	dial, host, err := address.Dialer(c.queryListen)
	if err != nil {
		return fmt.Errorf("--query-listen: %w", err)
	}
	url := "http://" + host + "/healthz"
	// It asks itself, by an address that no certificate is for.
	client := http.Client{Timeout: healthyWait, Transport: &http.Transport{DialContext: dial,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	if c.tlsCert != "" {
		url = "https" + url[len("http"):]
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	res, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("no daemon answers: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	said, _ := io.ReadAll(io.LimitReader(res.Body, 4<<10)) // the status tells enough
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("the daemon is not well: %s: %s", res.Status, said)
	}
	return nil
}

// testChannel sends a test message and prints the response of its receiver.
func (c *config) testChannel(ctx context.Context, stdout io.Writer) error {
	f, err := c.readNotify()
	if err != nil {
		return err
	}
	ch := f.Channel(c.testNotification)
	if ch == nil {
		return fmt.Errorf("%s has no channel %q; it has %s", c.notify, c.testNotification,
			strings.Join(likely(c.testNotification, namesOf(f)), ", "))
	}
	var sender notify.Sender
	r := sender.Send(ctx, notify.TestBatch(ch, time.Now()))
	if _, err := fmt.Fprintf(stdout, "%s (%s, %s): %s: %s\n", ch.Name, ch.Kind, ch.Where(), r.Outcome,
		r.Answer); err != nil {
		return err
	}
	switch r.Outcome {
	case notify.Retry:
		return errors.New("the message did not come through now; a daemon would try again for a day and a half: see " +
			"docs/notifications.md for what the answer means")
	case notify.Refused:
		return errors.New("the receiver refuses the message, and would refuse all: correct the channel, see " +
			"docs/notifications.md for what the answer means")
	}
	return nil
}

// likely returns the names that may be meant, all if none is near.
func likely(name string, known []string) []string {
	if near := spelling.Likely(name, known); len(near) > 0 {
		return near
	}
	return known
}
