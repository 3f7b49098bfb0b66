package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// nodeCount is how many daemons share the bucket.
const nodeCount = 3

// Keys of the store, which is only reachable from this machine.
const (
	storeKey    = "demo"
	storeSecret = "demo-secret"
)

// cluster is a group of daemons on one bucket, with a load balancer in front.
type cluster struct {
	stdout   io.Writer
	bin, dir string
	store    *program
	balancer *balancer
	nodes    []*daemon
	location string // of the data
}

// runCluster shows that daemons on one bucket act as one, and what happens when one of them is
// lost. If interactive, it waits until it is interrupted. It cleans up everything.
func runCluster(ctx context.Context, stdout io.Writer, interactive bool) (err error) {
	c := &cluster{stdout: stdout}
	if c.bin, err = filepath.Abs("bin"); err != nil {
		return err
	}
	if c.dir, err = os.MkdirTemp("", "fieldtrie-cluster-"); err != nil {
		return err
	}
	defer func() {
		c.end()
		err = errors.Join(err, os.RemoveAll(c.dir))
	}()
	if err := c.show(ctx); err != nil {
		if ctx.Err() != nil { // the user's interrupt
			return nil
		}
		return err
	}
	if interactive {
		c.invite()
		<-ctx.Done()
	}
	return nil
}

// end kills all programs, because no data needs to be saved.
func (c *cluster) end() {
	for _, d := range c.nodes {
		d.kill()
	}
	if c.balancer != nil {
		c.balancer.kill()
	}
	if c.store != nil {
		c.store.kill()
	}
}

// show runs the demonstration.
func (c *cluster) show(ctx context.Context) error {
	fmt.Fprintf(c.stdout, "1. Starting an S3-compatible store, %d daemons on one bucket, and a load balancer before "+
		"them …\n", nodeCount)
	if err := c.start(ctx); err != nil {
		return err
	}
	files, err := samples()
	if err != nil {
		return err
	}
	half := len(files) / 2
	fmt.Fprintf(c.stdout, "\n2. Sending %d real traces to the balancer, one request each …\n", half)
	if err := c.send(ctx, files[:half]); err != nil {
		return err
	}
	fmt.Fprintf(c.stdout, "   all accepted: each is in the bucket. Each daemon is queried for the top functions:\n")
	if err := c.agree(ctx, half); err != nil {
		return err
	}
	fmt.Fprintf(c.stdout, "\n3. kill -9 of daemon 1, which rolls up, and then %d more traces to the balancer …\n",
		len(files)-half)
	c.nodes[0].kill()
	if err := c.send(ctx, files[half:]); err != nil {
		return err
	}
	fmt.Fprintln(c.stdout, "   all accepted. The others take over its work after half a minute:")
	if err := c.agree(ctx, len(files)); err != nil {
		return err
	}
	fmt.Fprintln(c.stdout, "\n4. All traces again, and daemon 1 is restarted …")
	if err := c.send(ctx, files); err != nil {
		return err
	}
	if err := c.nodes[0].start(ctx); err != nil {
		return err
	}
	fmt.Fprintln(c.stdout, "   all accepted, and none counts twice:")
	return c.agree(ctx, len(files))
}

// start starts all programs.
func (c *cluster) start(ctx context.Context) (err error) {
	if c.store, c.location, err = startStore(ctx, c.bin, c.dir); err != nil {
		return err
	}
	for range nodeCount {
		d, err := newDaemon(filepath.Join(c.bin, "ingest"), c.location, "AWS_ACCESS_KEY_ID="+storeKey,
			"AWS_SECRET_ACCESS_KEY="+storeSecret)
		if err != nil {
			return err
		}
		c.nodes = append(c.nodes, d)
		if err := d.start(ctx); err != nil {
			return err
		}
	}
	if c.balancer, err = startBalancer(ctx, c.dir, c.nodes); err != nil {
		return err
	}
	fmt.Fprintf(c.stdout, "   data %s\n   balancer http://%s\n", c.location, c.balancer.public)
	for i, d := range c.nodes {
		fmt.Fprintf(c.stdout, "   daemon %d public http://%s, private http://%s\n", i+1, d.public, d.private)
	}
	return nil
}

// send posts files to the balancer.
func (c *cluster) send(ctx context.Context, files []string) error {
	for _, name := range files {
		if err := post(ctx, c.balancer.public, name); err != nil {
			return err
		}
	}
	return nil
}

// agreeMost bounds the wait until all daemons have all traces. The others wait half a minute before
// they take over the work of a killed daemon.
const agreeMost = 2 * time.Minute

// agree waits until all running daemons have this number of traces, and checks that their responses
// are equal.
func (c *cluster) agree(ctx context.Context, traces int) error {
	began := time.Now()
	for {
		answers, count, err := c.ask(ctx)
		if err == nil && count == traces {
			for i, a := range answers {
				if a != nil && !bytes.Equal(a.body, answers[len(answers)-1].body) {
					return fmt.Errorf("daemon %d responds\n%s\nand daemon %d\n%s", i+1, a.body, len(answers),
						answers[len(answers)-1].body)
				}
			}
			c.print(answers, traces, time.Since(began))
			return nil
		}
		if count > traces || time.Since(began) > agreeMost {
			return errors.Join(fmt.Errorf("%d traces after %v, not %d", count, time.Since(began).Round(time.Second),
				traces), err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// top is a daemon's response for all pages.
type top struct {
	Traces    int
	Functions []struct {
		Name string
		Self int64 `json:"self_us"`
	}
	body []byte
}

// ask queries each running daemon for the top functions. least is the smallest number of traces in
// a response.
func (c *cluster) ask(ctx context.Context) (answers []*top, least int, err error) {
	answers = make([]*top, len(c.nodes))
	least = 1 << 30
	for i, d := range c.nodes {
		if !d.running() {
			continue
		}
		if answers[i], err = askTop(ctx, d.private); err != nil {
			return nil, 0, fmt.Errorf("ask daemon %d: %w", i+1, err)
		}
		least = min(least, answers[i].Traces)
	}
	return answers, least, nil
}

// askTop queries a daemon for the top functions of everything acknowledged so far.
func askTop(ctx context.Context, addr string) (*top, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/api/v1/top?limit=3&since=24h", nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Cache-Control", "no-cache")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	t := &top{}
	if t.body, err = io.ReadAll(res.Body); err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", res.Status, t.body)
	}
	return t, json.Unmarshal(t.body, t)
}

// print shows the responses of the daemons.
func (c *cluster) print(answers []*top, traces int, took time.Duration) {
	for i, a := range answers {
		if a == nil {
			fmt.Fprintf(c.stdout, "   daemon %d  is dead\n", i+1)
			continue
		}
		var names []string
		for _, x := range a.Functions {
			names = append(names, fmt.Sprintf("%s %d ms", cmp.Or(x.Name, "(anonymous)"), x.Self/1000))
		}
		fmt.Fprintf(c.stdout, "   daemon %d  %d traces: %s\n", i+1, a.Traces, strings.Join(names, ", "))
	}
	fmt.Fprintf(c.stdout, "   all %d traces, the same answer of each, after %.0f s\n", traces, took.Seconds())
}

// invite lists things to try.
func (c *cluster) invite() {
	fmt.Fprintf(c.stdout, "\n5. Try next:\n\n")
	for i, d := range c.nodes {
		fmt.Fprintf(c.stdout, "   open http://%s/, the dashboard of daemon %d; kill -9 %d\n", d.private, i+1,
			d.cmd.Process.Pid)
	}
	fmt.Fprintf(c.stdout, "   open http://%s/, daemons that the balancer considers alive\n", c.balancer.stats)
	fmt.Fprintf(c.stdout, "   AWS_ACCESS_KEY_ID=%s AWS_SECRET_ACCESS_KEY=%s %s --data '%s' --since 24h --format top\n",
		storeKey, storeSecret, filepath.Join(c.bin, "aggregate"), c.location)
	fmt.Fprintf(c.stdout, "   curl -s http://%s/metrics | grep ^fieldtrie_store\n", c.nodes[0].private)
	fmt.Fprintf(c.stdout, "\nAll runs until you press Ctrl-C, which also deletes the data.\n")
}

// startStore starts versitygw with a directory as its bucket, and returns the location of the data.
func startStore(ctx context.Context, bin, dir string) (*program, string, error) {
	const bucket = "traces"
	if err := os.MkdirAll(filepath.Join(dir, "store", bucket), 0o755); err != nil {
		return nil, "", err
	}
	addr, err := freeAddr("127.0.0.1:7070")
	if err != nil {
		return nil, "", err
	}
	name := filepath.Join(bin, "versitygw")
	if _, err := os.Stat(name); err != nil {
		return nil, "", fmt.Errorf("no %s, the store; make cluster installs it", name)
	}
	p := &program{name: "versitygw", make: func() *exec.Cmd {
		cmd := exec.Command(name, "--access", storeKey, "--secret", storeSecret, "--port", addr, "posix",
			filepath.Join(dir, "store"))
		cmd.Dir = dir
		return cmd
	}, ready: func(ctx context.Context) bool { return answers(ctx, "http://"+addr+"/", http.StatusForbidden) }}
	return p, "s3://" + bucket + "/demo?endpoint=http://" + addr + "&region=us-east-1", p.start(ctx)
}
