package main

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// objectStore is an S3-compatible store started by this program, with one bucket.
type objectStore struct {
	process
	addr  string
	parts []string // its directories
}

const (
	storeKey    = "fieldtrie"
	storeSecret = "fieldtrie-secret"
	storeBucket = "traces"
)

// storeKind describes how to start a kind of store.
type storeKind struct {
	parts int // number of its directories
	args  func(addr string, parts []string) []string
	env   []string
	ready string // path
}

// storeKinds are the known stores, by the name of the program.
var storeKinds = map[string]storeKind{
	"versitygw": {parts: 1, ready: "/", args: func(addr string, parts []string) []string {
		return []string{"--access", storeKey, "--secret", storeSecret, "--port", addr, "posix", parts[0]}
	}},
	// It stores each object in pieces and needs only half of them.
	"minio": {parts: 4, ready: "/minio/health/ready", env: []string{"MINIO_CI_CD=1", "MINIO_ROOT_USER=" + storeKey,
		"MINIO_ROOT_PASSWORD=" + storeSecret},
		args: func(addr string, parts []string) []string {
			return slices.Concat([]string{"server", "--address", addr}, parts)
		}},
}

// startStore starts a store with its data in dir, which it creates.
func startStore(program, dir string) (*objectStore, error) {
	name := filepath.Base(program)
	kind := storeKinds[name]
	program, err := exec.LookPath(program)
	if err != nil {
		return nil, usageError{fmt.Errorf("--store: %w", err)}
	}
	if program, err = filepath.Abs(program); err != nil { // it runs in another directory
		return nil, err
	}
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	s := &objectStore{addr: addr, process: process{name: name, program: program, dir: dir, ready: "http://" + addr +
		kind.ready}}
	for i := range kind.parts {
		part := filepath.Join(dir, fmt.Sprint("part-", i+1))
		s.parts = append(s.parts, part)
		if err := os.MkdirAll(part, 0o755); err != nil {
			return nil, err
		}
	}
	s.args = kind.args(addr, s.parts)
	s.env = append(kind.env, "AWS_ACCESS_KEY_ID="+storeKey, "AWS_SECRET_ACCESS_KEY="+storeSecret)
	if err := s.startReady(); err != nil {
		s.kill()
		return nil, err
	}
	for _, part := range s.parts { // both stores treat a directory as a bucket
		if err := os.Mkdir(filepath.Join(part, storeBucket), 0o755); err != nil {
			s.kill()
			return nil, err
		}
	}
	return s, nil
}

// location returns the value of ingest's --data.
func (s *objectStore) location() string {
	return "s3://" + storeBucket + "/load?" + url.Values{"endpoint": {"http://" + s.addr},
		"region": {"us-east-1"}}.Encode()
}

// down kills the store, and starts it again after d, or when over is closed.
func (s *objectStore) down(d time.Duration, over <-chan struct{}) error {
	s.kill()
	select {
	case <-time.After(d):
	case <-over:
	}
	return s.startReady()
}

// wipe empties one of the directories of the store, like the replacement of a disk.
func (s *objectStore) wipe() error {
	part := s.parts[0]
	var err error
	for range 100 { // the store may write something while it is deleted
		entries, e := os.ReadDir(part)
		if e != nil || len(entries) == 0 {
			return e
		}
		for _, e := range entries {
			if x := os.RemoveAll(filepath.Join(part, e.Name())); x != nil {
				err = x
			}
		}
	}
	return fmt.Errorf("wipe a part of %s, %s: %w", s.name, part, err)
}
