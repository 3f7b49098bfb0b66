package local_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store/local"
)

// A machine whose clock is a year ahead at a start (a flat battery, a wrong time server) must not delete what it has.
func TestClockAheadDeletesNothing(t *testing.T) {
	dir := t.TempDir()
	var log bytes.Buffer
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	open := func() *local.Store {
		s, err := local.Open(dir, local.Options{DoubtClock: true, Logger: slog.New(slog.NewTextHandler(&log, nil)), Now: func() time.Time { return now }, Retention: 7 * 24 * time.Hour, HourRetention: 30 * 24 * time.Hour, DayRetention: 400 * 24 * time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	for i := range 5 {
		if _, err := s.Append(context.Background(), testRecords(20*i, 20*i+20, "/a")); err != nil {
			t.Fatal(err)
		}
		_ = s.Roll(context.Background())
		now = now.Add(time.Hour)
		_ = s.Maintain(context.Background())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	right := now
	now = now.Add(402 * 24 * time.Hour)
	s = open()
	for range 3 {
		_ = s.Maintain(context.Background())
		_ = s.Roll(context.Background())
	}
	if s.ClockDoubt() == "" || strings.Count(log.String(), "--believe-clock") != 1 {
		t.Errorf("doubt %q, said %s", s.ClockDoubt(), &log)
	}
	_ = s.Close()
	now = right.Add(time.Minute)
	s = open()
	defer s.Close()
	if err := s.Maintain(context.Background()); err != nil || s.ClockDoubt() != "" {
		t.Errorf("the right time is doubted: %q %v", s.ClockDoubt(), err)
	}
	list, _, err := s.Catalog(context.Background(), right.Add(-24*time.Hour), right.Add(time.Hour), 0)
	t.Log(len(list), "entries", err)
	if len(list) == 0 {
		t.Error("all is gone")
	}
}

// Traces of several hours confirm a time: a machine that was off for a year deletes what is too old then, and not before.
func TestClockConfirmed(t *testing.T) {
	dir := t.TempDir()
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	s, err := local.Open(dir, local.Options{DoubtClock: true, Now: func() time.Time { return now }, Retention: 7 * 24 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	send := func(n int) int {
		t.Helper()
		if _, err := s.Append(t.Context(), testRecords(20*n, 20*n+20, "/a")); err != nil {
			t.Fatal(err)
		}
		if err := s.Maintain(t.Context()); err != nil {
			t.Fatal(err)
		}
		status, err := s.Status()
		if err != nil {
			t.Fatal(err)
		}
		return len(status.Partitions)
	}
	send(0)
	now = now.Add(400 * 24 * time.Hour)
	for n := 1; n <= 3; n++ {
		had := send(n)
		if doubted := s.ClockDoubt() != ""; doubted != (n < 3) || doubted && had < n+1 {
			t.Errorf("after traces of %d hours: doubted %t, %d partitions", n, doubted, had)
		}
		now = now.Add(time.Hour)
	}
	if had := send(4); had > 4 {
		t.Errorf("%d partitions are left, one of them of a year ago", had)
	}
}
