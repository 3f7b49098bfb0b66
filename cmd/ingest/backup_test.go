//go:build linux

package main

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/test/storetest"
)

// fillData fills a store so that its backup does not fit into the buffers between a daemon and its
// client.
func fillData(t *testing.T, s store.Writer) {
	t.Helper()
	for n := range uint64(32) {
		payload := make([]byte, 900<<10)
		_, _ = rand.Read(payload) // never fails; random data does not compress
		r := store.Record{Pages: []string{"/large"}, Payload: payload}
		binary.BigEndian.PutUint64(r.ID.View[:], n)
		if _, err := s.Append(t.Context(), []store.Record{r}); err != nil {
			t.Fatal(err)
		}
	}
}

// beginBackup requests a backup and reads its beginning.
func beginBackup(t *testing.T, d *running) *http.Response {
	t.Helper()
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		if tcp, ok := conn.(*net.TCPConn); ok {
			err = tcp.SetReadBuffer(64 << 10) // the kernel could grow it until the whole backup fits
		}
		return conn, err
	}
	client := &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
	res, err := client.Get(d.private + "/v1/backup")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	if _, err := io.CopyN(io.Discard, res.Body, 1<<10); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("got status %d and %v, want the beginning of a backup", res.StatusCode, err)
	}
	return res
}

// TestBackupEnds has clients of backups that do not read everything. If a client hangs up, the
// daemon ends that backup. If a client stops reading, the daemon ends its backup when the daemon
// itself stops.
func TestBackupEnds(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	s, end := storetest.OpenDirectory(t, data, nil)
	fillData(t, s)
	end()
	d := launch(t, program(t), data)
	first := beginBackup(t, d)
	if got := d.ask("/v1/backup"); got.status != http.StatusConflict {
		t.Errorf("a second concurrent backup: got status %d, want 409", got.status)
	}
	_ = first.Body.Close()
	if metric := "fieldtrie_store_backup_timestamp_seconds "; strings.Contains(d.get("/metrics"), metric) {
		t.Errorf("metrics have the time of an incomplete backup")
	}
	until(t, "the end of a backup whose client hung up", func() bool {
		return d.ask("/v1/backup").status == http.StatusOK
	})
	if !strings.Contains(d.get("/metrics"), "\nfieldtrie_store_backup_timestamp_seconds 1") {
		t.Errorf("metrics lack the time of the backup")
	}

	last := beginBackup(t, d)
	if err := d.stop(syscall.SIGTERM); err != nil {
		t.Errorf("got %v, want status 0: clients must not keep the store from closing", err)
	}
	if _, err := io.Copy(io.Discard, last.Body); err == nil {
		t.Errorf("a truncated backup looks complete")
	}
	if text := d.log.String(); !strings.Contains(text, "msg=closed") {
		t.Errorf("the log does not report that the data was closed:\n%s", text)
	}
	if again := launch(t, program(t), data); !strings.Contains(again.get("/metrics"),
		"\nfieldtrie_store_backup_timestamp_seconds 1") {
		t.Errorf("after a restart, metrics lack the time of the backup")
	}
}
