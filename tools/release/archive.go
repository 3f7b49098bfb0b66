package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// content returns what is in a file.
func (f *file) content() ([]byte, error) {
	if f.source == "" {
		return f.data, nil
	}
	return os.ReadFile(f.source)
}

// writeArchive writes an archive to unpack anywhere: zip for Windows, tar for all others.
func (r *release) writeArchive(p platform, files []file) (err error) {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(inArchive(a), inArchive(b)) })
	name := r.name(p.os + "_" + p.arch)
	write := r.writeTar
	if p.os == "windows" {
		name, write = name+".zip", r.writeZip
	} else {
		name += ".tar.gz"
	}
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	top := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(name), ".zip"), ".tar.gz")
	return write(out, top, files)
}

func (r *release) writeTar(out io.Writer, top string, files []file) error {
	packed, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	w := tar.NewWriter(packed)
	for _, f := range files {
		data, err := f.content()
		if err != nil {
			return err
		}
		h := tar.Header{Name: top + "/" + inArchive(f), Mode: int64(f.mode), Size: int64(len(data)), ModTime: r.date,
			Format: tar.FormatUSTAR}
		if err := w.WriteHeader(&h); err != nil {
			return err
		}
		if _, err := w.Write(data); err != nil {
			return err
		}
	}
	return errors.Join(w.Close(), packed.Close())
}

func (r *release) writeZip(out io.Writer, top string, files []file) error {
	w := zip.NewWriter(out)
	for _, f := range files {
		data, err := f.content()
		if err != nil {
			return err
		}
		h := zip.FileHeader{Name: top + "/" + inArchive(f), Method: zip.Deflate, Modified: r.date}
		h.SetMode(os.FileMode(f.mode))
		to, err := w.CreateHeader(&h)
		if err != nil {
			return err
		}
		if _, err := to.Write(data); err != nil {
			return err
		}
	}
	return w.Close()
}
