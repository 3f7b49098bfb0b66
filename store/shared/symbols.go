package shared

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/symbols/tables"
)

// symbolsFolder is the folder of symbols in the bucket.
const symbolsFolder = "symbols/"

// Limits of a request for a file of symbols. They are short because an uploader waits for it.
const (
	symbolsWait     = 30 * time.Second
	symbolsAttempts = 3
)

// Symbols returns the files of symbols, which nodes share.
func (r *Reader) Symbols() tables.Files { return symbolFiles{r.b.Store} }

// symbolFiles implements [tables.Files].
type symbolFiles struct{ b objects.Store }

func (f symbolFiles) Shared() bool { return !f.b.Exclusive() }

func (f symbolFiles) Path(name string) string { return f.b.Name() + symbolsFolder + name }

func (f symbolFiles) List(folder string) (out []tables.File, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), symbolsWait)
	defer cancel()
	for e, err := range f.b.List(ctx, symbolsFolder+folder, "") {
		if err != nil {
			return nil, err
		}
		out = append(out, tables.File{Name: strings.TrimPrefix(e.Key, symbolsFolder), Size: e.Size,
			Written: e.Modified})
	}
	return out, nil
}

func (f symbolFiles) Read(name string, most int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), symbolsWait)
	defer cancel()
	got, err := f.b.Get(ctx, symbolsFolder+name, most, "")
	if errors.Is(err, objects.ErrNotFound) {
		return nil, fmt.Errorf("%s: %w", f.Path(name), fs.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	return got.Body, nil
}

// Write sets no condition, because two tables of the same script are equally valid.
func (f symbolFiles) Write(name string, body []byte) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), symbolsWait)
	defer cancel()
	for attempt := range symbolsAttempts {
		if attempt > 0 && layout.Sleep(ctx, attempt, time.Duration(attempt)*time.Second/4) != nil {
			break
		}
		if _, err = f.b.Put(ctx, symbolsFolder+name, body, objects.Condition{}); err == nil {
			return nil
		}
	}
	return err
}

func (f symbolFiles) Remove(name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), symbolsWait)
	defer cancel()
	return f.b.Delete(ctx, symbolsFolder+name)
}
