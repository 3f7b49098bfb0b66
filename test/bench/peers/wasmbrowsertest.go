//go:build wasmbrowsertest

// This file is built in a copy of github.com/agnivade/wasmbrowsertest, whose converter
// cannot be imported, and turns that program into a converter:
//
//	wasmbrowsertest convert FILE OUT            converts once
//	wasmbrowsertest convert FILE OUT SECONDS    converts repeatedly, and prints the
//	                                            minimum CPU time
package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/chromedp/cdproto/profiler"
)

func init() { // runs before main
	if len(os.Args) > 1 && os.Args[1] == "convert" {
		if err := convert(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

func convert(args []string) error {
	data, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	var out bytes.Buffer
	once := func() error {
		out.Reset()
		var p profiler.Profile
		if err := p.UnmarshalJSON(data); err != nil { // without the first pass of json.Unmarshal
			return err
		}
		return WriteProfile(&p, &out, map[int]string{})
	}
	seconds := 0.0
	if len(args) > 2 {
		if seconds, err = strconv.ParseFloat(args[2], 64); err != nil {
			return err
		}
	}
	least := -1.0
	for start := time.Now(); least < 0 || time.Since(start).Seconds() < seconds; {
		before := cpuTime()
		if err := once(); err != nil {
			return err
		}
		if cpu := cpuTime() - before; least < 0 || cpu < least {
			least = cpu
		}
	}
	fmt.Printf("{\"cpu\": %v, \"found\": %d}\n", least, out.Len())
	return os.WriteFile(args[1], out.Bytes(), 0o644)
}

func cpuTime() float64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano()).Seconds()
}
