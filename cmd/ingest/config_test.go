package main

import (
	"net"
	"strings"
	"testing"
)

func TestURLOf(t *testing.T) {
	for addr, want := range map[string]string{
		"127.0.0.1:8418":  "http://127.0.0.1:8418",
		"0.0.0.0:8418":    "http://127.0.0.1:8418",
		"[::]:8418":       "http://127.0.0.1:8418",
		"[::1]:8418":      "http://[::1]:8418",
		"192.0.2.7:80":    "http://192.0.2.7:80",
		"[2001:db8::1]:1": "http://[2001:db8::1]:1",
	} {
		a, err := net.ResolveTCPAddr("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if got := urlOf(a); got != want {
			t.Errorf("%s: got %s, want %s", addr, got, want)
		}
	}
}

func TestKeysValue(t *testing.T) {
	var got []string
	v := keys(&got)
	for key, ok := range map[string]bool{
		"abc": true, "A-b_9": true, strings.Repeat("k", 64): true,
		"": false, "a b": false, "a&b": false, "a%20b": false, "ä": false, strings.Repeat("k", 65): false,
	} {
		if err := v.Set(key); (err == nil) != ok {
			t.Errorf("%q: got %v", key, err)
		}
	}
	if len(got) != 3 {
		t.Errorf("keys are %q", got)
	}
}
