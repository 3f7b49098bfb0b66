package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// balancer is a load balancer in front of daemons.
type balancer struct {
	program
	public, stats string
}

// balancerConfig is the configuration of HAProxy. A request that fails at one daemon goes to
// another: duplicates count once. HAProxy checks /readyz at the private address of each daemon.
const balancerConfig = `
global
    tune.bufsize 524288
defaults
    mode http
    timeout connect 1s
    timeout client 30s
    timeout server 15s
    option httpchk GET /readyz
    option redispatch 1
    retries 3
    retry-on conn-failure empty-response response-timeout 503
frontend public
    bind %s
    option http-buffer-request
    default_backend ingest
backend ingest
    balance roundrobin
%sfrontend stats
    bind %s
    stats enable
    stats uri /
    stats refresh 2s
`

// startBalancer starts HAProxy in front of nodes, and returns once it responds. It writes the
// configuration to dir.
func startBalancer(ctx context.Context, dir string, nodes []*daemon) (*balancer, error) {
	path, err := exec.LookPath("haproxy")
	if err != nil {
		return nil, errors.New(
			"no haproxy, the load balancer; install it, as with: apt-get install --no-install-recommends haproxy")
	}
	b := &balancer{}
	for _, addr := range []*string{&b.public, &b.stats} {
		if *addr, err = freeAddr("127.0.0.1:0"); err != nil {
			return nil, err
		}
	}
	var servers strings.Builder
	for i, d := range nodes {
		_, port, _ := strings.Cut(d.private, ":")
		fmt.Fprintf(&servers, "    server daemon-%d %s check port %s inter 1s fall 2 rise 1\n", i+1, d.public, port)
	}
	config := filepath.Join(dir, "haproxy.cfg")
	if err := os.WriteFile(config, fmt.Appendf(nil, balancerConfig, b.public, &servers, b.stats), 0o644); err != nil {
		return nil, err
	}
	b.program = program{name: "haproxy", make: func() *exec.Cmd { return exec.Command(path, "-db", "-f", config) },
		ready: func(ctx context.Context) bool { return answers(ctx, "http://"+b.stats+"/", http.StatusOK) }}
	return b, b.start(ctx)
}
