package address

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestURL(t *testing.T) {
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
		if got := URL(a); got != want {
			t.Errorf("%s: got %s, want %s", addr, got, want)
		}
	}
}

func TestCheck(t *testing.T) {
	for addr, ok := range map[string]bool{
		":8418": true, "127.0.0.1:0": true, "[::1]:80": true, "unix:/run/a.sock": true, "unix:a.sock": true,
		"unix:": false, "unix:/" + strings.Repeat("a", maxPath): false, "nonsense": false, "127.0.0.1": false,
		"a:b:c": false,
	} {
		if err := Check(addr); (err == nil) != ok {
			t.Errorf("%s: got %v", addr, err)
		}
	}
}

// A stale socket is replaced. A socket in use and a file that is not a socket are kept.
func TestListenOnSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.sock")
	first, err := Listen("unix:" + path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != fs.ModeSocket|0o660 {
		t.Errorf("the socket has the mode %v, %v", info.Mode(), err)
	}
	if _, err := Listen("unix:" + path); err == nil {
		t.Fatal("two listen on one socket")
	} else if _, inUse := errors.AsType[*InUseError](err); !inUse {
		t.Errorf("the second listener: %v", err)
	}
	first.(*net.UnixListener).SetUnlinkOnClose(false) // as after kill -9
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, err := Listen("unix:" + path)
	if err != nil {
		t.Fatalf("a stale socket was not replaced: %v", err)
	}
	if !Local(second.Addr()) || URL(second.Addr()) != "unix:"+path {
		t.Errorf("the URL is %s", URL(second.Addr()))
	}
	_ = second.Close()
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen("unix:" + path); err == nil {
		t.Error("a file was replaced by a socket")
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "mine" {
		t.Errorf("the file has %q, %v", text, err)
	}
}
