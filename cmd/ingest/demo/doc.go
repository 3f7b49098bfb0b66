// Package demo fills a data directory with a week of visits to a small shop, including a release
// with a planted regression.
//
//	err := demo.Fill(ctx, dir, demo.Options{Now: time.Now(), Views: demo.Views})
//	err = demo.Tell(ctx, os.Stdout, src, "http://127.0.0.1:8419", bin, time.Now())
//
// The visits were recorded in a browser, see test/shop, and are replayed through the handler that
// receives traces:
//
//	functions.go  the functions of the shop in all releases, and which of them were edited
//	pool.go       the recordings of all releases, and the time that each release plants in them
//	replay.go     a recording as another device would have shown it, in a release
//	vitals.go     its Web Vitals
//
// docs/demo.md describes what is in the data.
package demo
