package commits

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// Get returns a commit of up to most bytes. If the error is [ErrDamaged], Get also returns the
// bytes that were found, if any. After any other error, a later call may succeed.
func (l *Log) Get(ctx context.Context, key string, most int64) ([]byte, error) {
	var body []byte
	for attempt := 0; ; attempt++ {
		c, err := l.find(key)
		switch {
		case err != nil:
			return nil, err
		case c.size > most:
			return nil, fmt.Errorf("%d bytes, at most %d are allowed", c.size, most)
		}
		body, err = l.read(ctx, key, c)
		if err == nil {
			return body, nil
		}
		if _, gone := l.find(key); errors.Is(gone, ErrNotFound) {
			return nil, gone // it was deleted meanwhile
		}
		// If Badger was not closed, it converts its logs to tables in the background, so the
		// location of a commit may change.
		moved := errors.Is(err, fs.ErrNotExist) || errors.Is(err, io.EOF)
		if l.opts.ReadOnly && errors.Is(err, fs.ErrNotExist) && attempt > 0 {
			return nil, ErrNotFound // the writing process has removed the generation
		}
		if !moved || attempt > 0 {
			return body, err
		}
		l.changed(c.of)
	}
}

// find returns the location of a commit.
func (l *Log) find(key string) (commit, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, ok := l.commits[key]
	switch {
	case !ok:
		return c, ErrNotFound
	case l.closed:
		return c, errClosed
	}
	return c, nil
}

// read reads a commit, through Badger or from files.
func (l *Log) read(ctx context.Context, key string, c commit) ([]byte, error) {
	l.mu.Lock()
	open := l.acquire(c.of)
	l.mu.Unlock()
	if open {
		defer func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.release(c.of)
		}()
		body, err := c.of.get(key, c.parts, c.size)
		if err == nil {
			return body, nil
		}
		s, serr := scan(c.of) // its files may contain a record that Badger does not find
		if serr != nil {
			return nil, errors.Join(err, serr)
		}
		body, serr = s.find(key).read(l.opts.FS, key)
		if serr != nil {
			serr = errors.Join(err, serr)
		}
		return body, serr
	}
	if c.of.ended != nil {
		select {
		case <-c.of.ended:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	if err := l.scan(c.of); err != nil {
		return nil, fmt.Errorf("scan its generation: %w", err)
	}
	l.mu.Lock()
	c, ok := l.commits[key]
	l.mu.Unlock()
	if !ok {
		return nil, ErrNotFound
	}
	return c.files.read(l.opts.FS, key)
}
