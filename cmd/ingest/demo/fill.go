package demo

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/fieldtrie/fieldtrie/collect"
	"github.com/fieldtrie/fieldtrie/store/shared"
	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/symbols/tables"
)

// origin is the origin at which the shop was recorded.
const origin = "http://shop.example/"

// Options configures the demo data.
type Options struct {
	Now      time.Time          // end of the page views
	Views    int                // number of profiled page views
	Seed     uint64             // of the random generator
	Progress func(done, of int) // is called with the number of stored page views; may be nil
}

// filling is a directory while it is filled.
type filling struct {
	Options
	clock     atomic.Int64 // ns of the Unix epoch
	node      *shared.Node
	collector *collect.Collector
	pool      *pool
	random    *rand.Rand
}

// Fill fills an empty data directory with a week of visits, as stored by a daemon that ran all
// week.
func Fill(ctx context.Context, dir string, o Options) (err error) {
	f := &filling{Options: o, random: rand.New(rand.NewPCG(7, o.Seed))}
	if f.pool, err = newPool(); err != nil {
		return err
	}
	f.set(o.Now.Add(-(days*24 + 1) * time.Hour))
	place, err := shared.OpenPlace(ctx, dir, shared.PlaceOptions{Now: f.now, Program: "ingest"})
	if err != nil {
		return err
	}
	if f.node, err = shared.Open(ctx, place, shared.Options{Flush: time.Millisecond, Shards: 1}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.node.Close(context.WithoutCancel(ctx))) }()
	rules, err := Budgets()
	if err != nil {
		return err
	}
	f.collector = collect.New(collect.Options{Store: f.node, Now: f.now, Features: rules.Features,
		Limits: collect.Limits{Body: 4 << 20}}) // a request has many page views
	if err := f.names(f.pool.functions.releases); err != nil {
		return err
	}
	return f.views(ctx, plan(f.random, o.Now, o.Views))
}

func (f *filling) now() time.Time { return time.Unix(0, f.clock.Load()) }

func (f *filling) set(at time.Time) { f.clock.Store(at.UnixNano()) }

// names stores the symbols of the releases.
func (f *filling) names(list []*release) error {
	store, err := tables.Open(f.node.Symbols(), tables.Options{Now: f.now})
	if err != nil {
		return err
	}
	for _, r := range list {
		var body bytes.Buffer
		if err := symbols.Encode(&body, r.table); err != nil {
			return err
		}
		hash := hex.EncodeToString(r.table.Script[:])
		if _, err := store.Put(hash, body.Bytes()); err != nil {
			return err
		}
		if _, _, err := store.AddUpload(symbols.Upload{Release: r.Release, Scripts: []symbols.Script{{Path: r.Path,
			Prefix: origin, SHA256: hash}}}); err != nil {
			return err
		}
	}
	return nil
}

// Batch sizes: the page views of one request, which a daemon stores with the time of its arrival,
// and the hours that are rolled up together.
const (
	batchTime = time.Hour
	lastBatch = 10 * time.Minute // of the last hours
	lastHours = 3 * time.Hour
	rollTime  = 12 * time.Hour
)

// views stores page views, which are ordered by time.
func (f *filling) views(ctx context.Context, all []view) error {
	rolled := all[0].at
	profiled := 0
	for done := 0; done < len(all); {
		if err := ctx.Err(); err != nil {
			return err
		}
		end := done
		step := batchTime
		if f.Now.Sub(all[done].at) < lastHours {
			step = lastBatch
		}
		until := all[done].at.Truncate(step).Add(step)
		for end < len(all) && all[end].at.Before(until) {
			if all[end].profiled {
				profiled++
			}
			end++
		}
		f.set(all[end-1].at)
		if err := f.send(all[done:end]); err != nil {
			return err
		}
		if err := f.node.StoreCounts(ctx); err != nil {
			return err
		}
		if done = end; done == len(all) || all[done].at.Sub(rolled) >= rollTime {
			rolled = all[done-1].at
			f.node.RollUp(ctx)
		}
		if f.Progress != nil {
			f.Progress(profiled, f.Views)
		}
	}
	f.set(f.Now)
	f.node.RollUp(ctx)
	return nil
}
