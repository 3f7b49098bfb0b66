package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"aead.dev/minisign"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// The tests check a release for linux/amd64 in $RELEASE, and a second one in $AGAIN that was built
// from the same commit elsewhere. "make check-release" builds both. The tests need root, dpkg and
// systemd-analyze.

const source = "../.."

// made returns the file of the release whose name ends with a suffix.
func made(t *testing.T, suffix string) string {
	t.Helper()
	dir := os.Getenv("RELEASE")
	if dir == "" {
		t.Fatal("RELEASE names no release; run make check-release")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"+suffix))
	if err != nil || len(files) != 1 {
		t.Fatalf("files *%s in %s: %v, %v", suffix, dir, files, err)
	}
	return files[0]
}

func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// TestSameBytes has two releases of one commit that are the same.
func TestSameBytes(t *testing.T) {
	first, err := os.ReadFile(made(t, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := os.ReadFile(filepath.Join(os.Getenv("AGAIN"), "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, again) {
		t.Errorf("got\n%s\nand of the same commit elsewhere\n%s", first, again)
	}
	if n := bytes.Count(first, []byte("\n")); n != 5 {
		t.Errorf("%d files, want archive, deb, rpm, image and SBOM", n)
	}
}

// TestUnit has what systemd says of the unit.
func TestUnit(t *testing.T) {
	root := unpackDeb(t)
	unit := filepath.Join(root, "usr/lib/systemd/system/fieldtrie.service")
	// It looks for the programs of the unit, which are not installed here.
	text, err := os.ReadFile(unit)
	if err != nil {
		t.Fatal(err)
	}
	here := filepath.Join(t.TempDir(), "fieldtrie.service")
	if err := os.WriteFile(here, bytes.ReplaceAll(text, []byte("=/usr/bin/fieldtrie"),
		[]byte("="+root+"/usr/bin/fieldtrie")), 0o600); err != nil {
		t.Fatal(err)
	}
	if said := output(t, "systemd-analyze", "verify", "--man=no", here); strings.Contains(said, "fieldtrie.service") {
		t.Errorf("systemd-analyze verify: %s", said)
	}
	output(t, "systemd-analyze", "security", "--offline=yes", "--threshold=20", unit) // 2.0
}

func unpackDeb(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	output(t, "dpkg", "-x", made(t, ".deb"), root)
	return root
}

// TestInstalled starts the daemon of the package as the unit does, with nothing but the package
// in its file system, and does the main job.
func TestInstalled(t *testing.T) {
	root := unpackDeb(t)
	if err := os.MkdirAll(filepath.Join(root, "var/lib/fieldtrie"), 0o700); err != nil {
		t.Fatal(err)
	}
	check := strings.Fields(setting(t, root, "ExecStartPre="))
	if out, err := inside(root, 0, nil, check...).CombinedOutput(); err != nil ||
		!bytes.Contains(out, []byte("\ndata: /var/lib/fieldtrie ")) {
		t.Fatalf("%v: %v\n%s", check, err, out)
	}
	mainJob(t, root, 0, nil, strings.Fields(setting(t, root, "ExecStart=")))
}

// setting returns the first value that the unit has for a key.
func setting(t *testing.T, root, key string) string {
	t.Helper()
	f, err := os.Open(filepath.Join(root, "usr/lib/systemd/system/fieldtrie.service"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), key); ok {
			return value
		}
	}
	t.Fatalf("the unit has no %s", key)
	return ""
}

// TestImage checks the image, and runs it as who it says, with nothing but it in the file system.
func TestImage(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Open(made(t, "oci.tar"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	untar(t, f, dir)
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	image := imageOf(t, index, "amd64")
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	c := config.Config
	if c.User != "65532:65532" || c.Healthcheck == nil || c.Labels["org.opencontainers.image.revision"] == "" ||
		config.Created.IsZero() {
		t.Errorf("got user %q, health check %v, labels %v, created %v", c.User, c.Healthcheck, c.Labels, config.Created)
	}
	root := t.TempDir()
	flat := mutate.Extract(image)
	defer func() { _ = flat.Close() }()
	untar(t, flat, root)
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	mainJob(t, root, imageUser, append(c.Env, "HEALTH="+strings.Join(c.Healthcheck.Test[1:], " ")), c.Entrypoint)
}

// imageOf returns the image for an architecture of the index of indexes that a layout is.
func imageOf(t *testing.T, index v1.ImageIndex, arch string) v1.Image {
	t.Helper()
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range manifest.Manifests {
		if m.MediaType.IsIndex() {
			inner, err := index.ImageIndex(m.Digest)
			if err != nil {
				t.Fatal(err)
			}
			return imageOf(t, inner, arch)
		}
		if m.Platform != nil && m.Platform.Architecture == arch {
			image, err := index.Image(m.Digest)
			if err != nil {
				t.Fatal(err)
			}
			return image
		}
	}
	t.Fatalf("no image for %s", arch)
	return nil
}

func untar(t *testing.T, from io.Reader, to string) {
	t.Helper()
	for r := tar.NewReader(from); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(to, filepath.Clean("/"+h.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, os.FileMode(h.Mode))
		} else {
			var data []byte
			if data, err = io.ReadAll(r); err == nil {
				err = os.WriteFile(path, data, os.FileMode(h.Mode))
			}
		}
		if err == nil {
			err = os.Chown(path, h.Uid, h.Gid)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// inside returns a command in a file system of its own.
func inside(root string, user uint32, env []string, args ...string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Err = nil // the program is not here, but there
	cmd.Path, cmd.Dir, cmd.Env = args[0], "/var/lib/fieldtrie", env
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: user, Gid: user}}
	return cmd
}

// mainJob starts a daemon, sends it the samples, queries the result and stops it. Addresses in its
// environment override addresses in its settings file.
func mainJob(t *testing.T, root string, user uint32, env, args []string) {
	t.Helper()
	public, private := freeAddr(t), freeAddr(t)
	env = append(env, "FIELDTRIE_LISTEN="+public, "FIELDTRIE_QUERY_LISTEN="+private)
	daemon := inside(root, user, env, args...)
	var log bytes.Buffer
	daemon.Stderr = &log
	if err := daemon.Start(); err != nil {
		t.Fatalf("%v: %v (this test takes root)", args, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- daemon.Wait() }()
	defer func() { _ = daemon.Process.Kill() }()
	healthy := []string{args[0], args[1], "--healthy"}
	for start := time.Now(); inside(root, user, env, healthy...).Run() != nil; time.Sleep(20 * time.Millisecond) {
		select {
		case err := <-ended:
			t.Fatalf("the daemon ended: %v\n%s", err, log.String())
		default:
		}
		if time.Since(start) > time.Minute {
			t.Fatal("the daemon is not healthy")
		}
	}
	n := send(t, "http://"+public+"/v1/traces")
	out, err := inside(root, user, env, "/usr/bin/fieldtrie", "aggregate", "--addr", private, "--format",
		"top").CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("TOTAL MS")) {
		t.Fatalf("aggregate: %v\n%s", err, out)
	}
	req, err := http.NewRequest(http.MethodGet, "http://"+private+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("the dashboard: %s", res.Status)
	}
	t.Logf("%d traces, %s", n, strings.SplitN(string(out), "\n", 2)[0])
	if err := daemon.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("the daemon ends: %v\n%s", err, log.String())
	}
}

// send sends the sample traces, and returns how many those are.
func send(t *testing.T, url string) int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(source, "testdata/traces/*.json.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("samples: %v, %v", files, err)
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		unpacked, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(unpacked)
		_ = f.Close()
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.Post(url, "application/json", bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		said, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode != http.StatusAccepted {
			t.Fatalf("%s: %s: %s", name, res.Status, said)
		}
	}
	return len(files)
}

func freeAddr(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	return fmt.Sprint(ln.Addr())
}

// TestSign has the checksums signed with keys that minisign made, with a password and without, and
// minisign itself verifies them.
func TestSign(t *testing.T) {
	dir := t.TempDir()
	sums := filepath.Join(dir, "SHA256SUMS")
	if err := os.WriteFile(sums, []byte("0123  fieldtrie_1.2.3_oci.tar\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// It asks for a password on a terminal alone, so one key has none and the other is made here.
	secret, public := filepath.Join(dir, "key"), filepath.Join(dir, "key.pub")
	output(t, "minisign", "-G", "-W", "-p", public, "-s", secret)
	made, key, err := minisign.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	locked, err := minisign.EncryptKey("word", key)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(secret+"-locked", locked, 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := made.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(public+"-locked", text, 0o600); err != nil {
		t.Fatal(err)
	}
	r := release{out: dir, version: "v1.2.3"}
	if err := r.sign(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(sums + ".minisig"); err == nil {
		t.Error("signed without a key")
	}
	for _, suffix := range []string{"", "-locked"} {
		t.Setenv("MINISIGN_PASSWORD", map[string]string{"-locked": "word"}[suffix])
		if r.key = secret + suffix; r.sign() != nil {
			t.Fatal(r.sign())
		}
		if said := output(t, "minisign", "-V", "-p", public+suffix, "-m", sums); !strings.Contains(said,
			"Trusted comment: fieldtrie v1.2.3") {
			t.Errorf("minisign says %s", said)
		}
		if out, err := exec.Command("minisign", "-V", "-p", public+map[string]string{"": "-locked",
			"-locked": ""}[suffix], "-m", sums).CombinedOutput(); err == nil {
			t.Errorf("another key verifies it: %s", out)
		}
	}
	t.Setenv("MINISIGN_PASSWORD", "wrong")
	for _, bad := range []string{secret + "-locked", public, sums, filepath.Join(dir, "none")} {
		if r.key = bad; r.sign() == nil {
			t.Errorf("%s signs", bad)
		}
	}
}

// TestDocuments has what the README of a package links to in the package.
func TestDocuments(t *testing.T) {
	root := filepath.Join(unpackDeb(t), doc)
	for _, page := range []string{"README.md", "docs/install.md", "docs/grafana.md", "docs/operations.md"} {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		links := regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`).FindAllSubmatch(text, -1)
		if len(links) == 0 {
			t.Errorf("%s has no links", page)
		}
		for _, link := range links {
			to := filepath.Join(root, filepath.Dir(page), string(link[1]))
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links to %s, which the package does not have", page, link[1])
			}
		}
	}
}
