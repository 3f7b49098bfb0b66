package main

import (
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/test/loadgen"
)

// hanging is an environment variable that turns the test binary into an ingest that never responds.
const hanging = "FIELDTRIE_TEST_HANGING_INGEST"

func TestMain(m *testing.M) {
	if os.Getenv(hanging) != "" {
		hang(os.Args[1:])
		return
	}
	os.Exit(m.Run())
}

// hang reports that it is ready, and never answers a trace.
func hang(args []string) {
	fs := flag.NewFlagSet("ingest", flag.ExitOnError)
	public, private := fs.String("listen", "", ""), fs.String("query-listen", "", "")
	fs.String("data", "", "")
	_ = fs.Parse(args)
	go func() {
		_ = http.ListenAndServe(*private, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintln(w, "ready")
		}))
	}()
	_ = http.ListenAndServe(*public, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { select {} }))
}

func TestStalled(t *testing.T) {
	t.Setenv(hanging, "1")
	var out bytes.Buffer
	err := run(t.Context(), []string{"--ingest", os.Args[0], "--rate", "100", "--for", "1m", "--stall", "500ms",
		traces}, &out, &out)
	if err == nil || exitCode(err) == 0 {
		t.Fatalf("no error\n%s", &out)
	}
	for _, want := range []string{"no trace was acknowledged for 500ms", "/readyz answers 200 OK: ready", "load.hang"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not contain %q:\n%s", want, err)
		}
	}
}

func TestStall(t *testing.T) {
	type look struct {
		second       int
		acknowledged uint64
		underWay     int
		want         bool
	}
	for name, looks := range map[string][]look{
		"hung":             {{0, 5, 2, false}, {1, 5, 9, false}, {15, 5, 9, false}, {16, 5, 9, true}},
		"hung immediately": {{0, 0, 1, false}, {15, 0, 1, true}},
		"one answer": {{0, 0, 1, false}, {14, 1, 1, false}, {20, 1, 1, false}, {34, 1, 1, false},
			{35, 1, 1, true}},
		"no requests": {{0, 5, 0, false}, {60, 5, 0, false}, {61, 5, 1, false}, {75, 5, 1, false},
			{76, 5, 1, true}},
		"all refused":      {{0, 5, 1, false}, {1, 5, 1, false}, {9, 5, 0, false}, {16, 5, 0, true}},
		"slow but working": {{0, 1, 1, false}, {14, 2, 1, false}, {28, 3, 1, false}, {42, 4, 1, false}},
		"finished, idle":   {{0, 1, 1, false}, {1, 2, 0, false}, {100, 2, 0, false}},
	} {
		s := stall{limit: 15 * time.Second}
		begin := time.Date(2026, 11, 21, 13, 0, 0, 0, time.UTC)
		for _, x := range looks {
			got := s.look(begin.Add(time.Duration(x.second)*time.Second), loadgen.Counts{Acknowledged: x.acknowledged},
				x.underWay)
			if got != x.want {
				t.Errorf("%s, second %d: got %v, want %v", name, x.second, got, x.want)
			}
		}
	}
}
