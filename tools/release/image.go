package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Paths in the image. No process is root, and only the data directory is writable.
const (
	imageUser     = 65532
	imageData     = "/var/lib/fieldtrie"
	imageSettings = "/etc/fieldtrie/ingest.yaml"
)

// writeImage writes an image for all platforms as an OCI layout in a tar file, as skopeo, podman
// and crane read it.
func (r *release) writeImage(platforms []platform, installed func(platform) []file) (err error) {
	index := mutate.IndexMediaType(mutate.Annotations(empty.Index, r.labels()).(v1.ImageIndex), types.OCIImageIndex)
	for _, p := range platforms {
		image, err := r.image(p, installed(p))
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: p.os, Architecture: p.arch}}})
	}
	dir := filepath.Join(r.work, "image")
	at, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	version := strings.TrimPrefix(r.version, "v")
	if err := at.AppendIndex(index,
		layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": version})); err != nil {
		return err
	}
	out, err := os.Create(r.name("oci.tar"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	return r.tarOf(out, dir)
}

func (r *release) labels() map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":       "fieldtrie",
		"org.opencontainers.image.description": "JavaScript profiles from real users",
		"org.opencontainers.image.version":     strings.TrimPrefix(r.version, "v"),
		"org.opencontainers.image.revision":    r.revision,
		"org.opencontainers.image.created":     r.date.Format(time.RFC3339),
		"org.opencontainers.image.licenses":    "Apache-2.0",
	}
}

// image returns the image for a platform: the programs, what has to come with them, and an empty
// directory for the data. There is no shell in it, and the programs need no files of a system.
func (r *release) image(p platform, installed []file) (v1.Image, error) {
	keep := func(f file) bool {
		return strings.HasPrefix(f.path, "/usr/bin/") || strings.HasPrefix(f.path, "/usr/lib/fieldtrie/") ||
			strings.HasPrefix(f.path, "/usr/share/doc/")
	}
	files := slices.DeleteFunc(slices.Clone(installed), func(f file) bool { return !keep(f) })
	files = append(files, file{path: imageSettings, mode: 0o644, source: filepath.Join(r.source, "deploy", "package",
		"container.yaml")})
	content, err := r.layer(files)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	}, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err = mutate.Append(image, mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: r.date},
		CreatedBy: "make release"}})
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = p.os, p.arch, v1.Time{Time: r.date}
	config.Config = v1.Config{
		User:       "65532:65532",
		Entrypoint: []string{"/usr/bin/fieldtrie", "ingest"},
		// Defaults are in a file and not in variables, which would win over a file that is mounted.
		Env:          []string{"PATH=/usr/bin:/usr/lib/fieldtrie", "FIELDTRIE_CONFIG=" + imageSettings},
		WorkingDir:   imageData,
		Volumes:      map[string]struct{}{imageData: {}},
		ExposedPorts: map[string]struct{}{"8418/tcp": {}, "8419/tcp": {}},
		Labels:       r.labels(),
		StopSignal:   "SIGTERM",
		Healthcheck: &v1.HealthConfig{Test: []string{"CMD", "/usr/bin/fieldtrie", "ingest", "--healthy"},
			Interval: 10 * time.Second, Timeout: 5 * time.Second, StartPeriod: time.Minute, Retries: 3},
	}
	return mutate.ConfigFile(image, config)
}

// layer returns the files of an image as a tar file, with their directories.
func (r *release) layer(files []file) ([]byte, error) {
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.path, b.path) })
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	made := map[string]bool{"/": true}
	var dir func(name string, mode int64, owner int) error
	dir = func(name string, mode int64, owner int) error {
		if made[name] {
			return nil
		}
		made[name] = true
		if err := dir(path.Dir(name), 0o755, 0); err != nil {
			return err
		}
		return w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name[1:] + "/", Mode: mode, Uid: owner,
			Gid: owner, ModTime: r.date, Format: tar.FormatUSTAR})
	}
	if err := dir(imageData, 0o700, imageUser); err != nil {
		return nil, err
	}
	for _, f := range files {
		data, err := f.content()
		if err != nil {
			return nil, err
		}
		if err := dir(path.Dir(f.path), 0o755, 0); err != nil {
			return nil, err
		}
		if err := w.WriteHeader(&tar.Header{Name: f.path[1:], Mode: int64(f.mode), Size: int64(len(data)),
			ModTime: r.date, Format: tar.FormatUSTAR}); err != nil {
			return nil, err
		}
		if _, err := w.Write(data); err != nil {
			return nil, err
		}
	}
	err := w.Close() // which writes the end
	return b.Bytes(), err
}

// tarOf writes the files of a directory, in the order of their names.
func (r *release) tarOf(out io.Writer, dir string) error {
	w := tar.NewWriter(out)
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		inside, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if err := w.WriteHeader(&tar.Header{Name: filepath.ToSlash(inside), Mode: 0o644, Size: int64(len(data)),
			ModTime: r.date, Format: tar.FormatUSTAR}); err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	})
	return errors.Join(err, w.Close())
}
