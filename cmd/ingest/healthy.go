package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// healthyWait is how long a daemon may take to say how it is. One that is stuck answers at once.
const healthyWait = 5 * time.Second

// askHealth asks the daemon that runs with these settings on this machine how it is, for
// supervisors that can only start programs, as those of containers.
func (c *config) askHealth(ctx context.Context) error {
	addr, err := net.ResolveTCPAddr("tcp", c.queryListen)
	if err != nil {
		return fmt.Errorf("--query-listen: %w", err)
	}
	url := urlOf(addr) + "/healthz"
	// It asks itself, by an address that no certificate is for.
	client := http.Client{Timeout: healthyWait, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
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
