package bucket

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/fieldtrie/fieldtrie/store/objects"
)

// Probe finds out whether the store does what the rest relies on, by eight requests: conditions on
// objects that are there, that are not and that have changed, lists that have what was just put, ranges, and
// deletion. It must have been called before a condition [objects.Is] is used. [ErrIgnoresConditions] says that
// the store must not be used. Of a call that is refused it says which one it is, and which right is missing.
func (b *Bucket) Probe(ctx context.Context) (err error) {
	key := objects.Probes + rand.Text()
	fail := func(what string, err error) error { return fmt.Errorf("probe %s: %s: %w", b.at, what, err) }
	first, err := b.Put(ctx, key, []byte("first"), objects.Absent)
	if err != nil {
		return fail("put a new object", err)
	}
	defer func() {
		if e := b.Delete(ctx, key); e != nil && err == nil {
			err = fail("delete an object", e)
		}
	}()
	switch _, err := b.Put(ctx, key, []byte("again"), objects.Absent); {
	case err == nil:
		return fail("put an object that is there, if it is not", ErrIgnoresConditions)
	case !errors.Is(err, objects.ErrConflict):
		return fail("put an object that is there, if it is not", err)
	}
	second, err := b.probeMatch(ctx, key, first)
	if err != nil {
		return fail("put an object, if it is as it was", err)
	}
	switch _, err := b.Put(ctx, key, []byte("third"), objects.Is(first)); {
	case err == nil:
		return fail("put an object that has changed, if it has not", ErrIgnoresConditions)
	case !errors.Is(err, objects.ErrConflict):
		return fail("put an object that has changed, if it has not", err)
	}
	switch got, err := b.Get(ctx, key, 1<<10, ""); {
	case err != nil:
		return fail("get an object", err)
	case !bytes.Equal(got.Body, []byte("second")) || got.Tag != second:
		return fail("get an object", fmt.Errorf("it is %q, tagged %s, and not what was put", got.Body, got.Tag))
	}
	switch got, size, err := b.Range(ctx, key, -3, 0); {
	case err != nil:
		return fail("get the end of an object", err)
	case string(got) != "ond" || size != 6:
		return fail("get the end of an object", fmt.Errorf("it is %q of %d bytes", got, size))
	}
	found := false
	for e, err := range b.List(ctx, key, "") {
		if err != nil {
			return fail("list objects", err)
		}
		found = found || e.Key == key
	}
	if !found {
		return fail("list objects", errors.New("what was put is not in the list"))
	}
	return nil
}

// probeMatch puts an object under the condition that it is as it was. Some stores compare tags as they
// are in answers, in quotes, and some without.
func (b *Bucket) probeMatch(ctx context.Context, key string, was objects.Tag) (objects.Tag, error) {
	tag, err := b.Put(ctx, key, []byte("second"), objects.Is(was))
	if errors.Is(err, objects.ErrConflict) {
		b.unquoted = true
		tag, err = b.Put(ctx, key, []byte("second"), objects.Is(was))
	}
	return tag, err
}
