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
		name = target // and not the link to it
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

// cause returns err without its file name, which may be a temporary one.
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

// replaceFile writes a temporary file beside name and renames it when it is complete. From
// the start it has the permissions of old, the file that it replaces; nil if there is none.
// The temporary file is removed as soon as ctx is done, as the process may end before write
// does.
func replaceFile(ctx context.Context, name string, old fs.FileInfo, write func(io.Writer) error) (err error) {
	temporary := filepath.Join(filepath.Dir(name), fmt.Sprintf(".%s.%d", filepath.Base(name), os.Getpid()))
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666) // less the umask
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
