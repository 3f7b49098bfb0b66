package bucket

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/fieldtrie/fieldtrie/store/objects"
)

// Probe implements [objects.Store]. It checks the required properties of the store with eight
// requests: conditions on objects that exist, are missing or have changed, lists that include an
// object that was just put, ranges, and deletion. It must be called before a condition [objects.Is]
// is used. If it returns [ErrIgnoresConditions], the store must not be used. If a call is rejected,
// the error names the call and the missing permission.
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
		return fail("put an existing object on condition that it is absent", ErrIgnoresConditions)
	case !errors.Is(err, objects.ErrConflict):
		return fail("put an existing object on condition that it is absent", err)
	}
	second, err := b.probeMatch(ctx, key, first)
	if err != nil {
		return fail("put an object on condition that it is unchanged", err)
	}
	switch _, err := b.Put(ctx, key, []byte("third"), objects.Is(first)); {
	case err == nil:
		return fail("put a changed object on condition that it is unchanged", ErrIgnoresConditions)
	case !errors.Is(err, objects.ErrConflict):
		return fail("put a changed object on condition that it is unchanged", err)
	}
	switch got, err := b.Get(ctx, key, 1<<10, ""); {
	case err != nil:
		return fail("get an object", err)
	case !bytes.Equal(got.Body, []byte("second")) || got.Tag != second:
		return fail("get an object", fmt.Errorf("got %q with tag %s, which differs from what was put",
			got.Body, got.Tag))
	}
	switch got, size, err := b.Range(ctx, key, -3, 0); {
	case err != nil:
		return fail("get the end of an object", err)
	case string(got) != "ond" || size != 6:
		return fail("get the end of an object", fmt.Errorf("got %q of an object of %d bytes", got, size))
	}
	found := false
	for e, err := range b.List(ctx, key, "") {
		if err != nil {
			return fail("list objects", err)
		}
		found = found || e.Key == key
	}
	if !found {
		return fail("list objects", errors.New("the list lacks an object that was just put"))
	}
	return nil
}

// probeMatch puts an object on condition that it is unchanged. Some stores compare tags with their
// quotes, and some without.
func (b *Bucket) probeMatch(ctx context.Context, key string, was objects.Tag) (objects.Tag, error) {
	tag, err := b.Put(ctx, key, []byte("second"), objects.Is(was))
	if errors.Is(err, objects.ErrConflict) {
		b.unquoted = true
		tag, err = b.Put(ctx, key, []byte("second"), objects.Is(was))
	}
	return tag, err
}
