package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// writeFile creates the file name with the output of write, completely or not at all. An
// existing file that is not a regular file, such as a pipe, is written to directly.
func writeFile(ctx context.Context, name string, write func(io.Writer) error) error {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target // keep the link
	}
	st, err := os.Stat(name)
	switch {
	case err != nil:
		err = replaceFile(ctx, name, nil, write)
	case st.Mode().IsRegular():
		err = replaceFile(ctx, name, st, write)
	default:
		err = writeInto(name, write)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, cause(err))
	}
	return nil
}

// cause returns err without its file name, which may be the one of the temporary file.
func cause(err error) error {
	if x, ok := errors.AsType[*fs.PathError](err); ok {
		return x.Err
	}
	if x, ok := errors.AsType[*os.LinkError](err); ok {
		return x.Err
	}
	return err
}

func writeInto(name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// replaceFile writes a temporary file in the folder of name and renames it once it is complete. The
// temporary file starts with the permissions of old, the file to replace; nil if there is none. It
// is removed as soon as ctx is done, because the process may exit before write returns.
func replaceFile(ctx context.Context, name string, old fs.FileInfo, write func(io.Writer) error) (err error) {
	temporary := filepath.Join(filepath.Dir(name), fmt.Sprintf(".%s.%d", filepath.Base(name), os.Getpid()))
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666) // minus the umask
	if err != nil {
		return err
	}
	inTime := context.AfterFunc(ctx, func() { _ = os.Remove(temporary) })
	defer func() {
		if inTime(); err != nil {
			_ = f.Close()
			_ = os.Remove(temporary)
		}
	}()
	if old != nil {
		if err := f.Chmod(old.Mode().Perm()); err != nil {
			return err
		}
	}
	if err := write(f); err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if !inTime() {
		return ctx.Err()
	}
	return os.Rename(temporary, name)
}
