// Package demo fills a data directory for a first look: with the visits of a small shop over a week, among them those of a
// release with a planted regression.
//
//	err := demo.Fill(ctx, dir, demo.Options{Now: time.Now(), Views: demo.Views})
//	err = demo.Tell(ctx, os.Stdout, src, "http://127.0.0.1:8419", bin, time.Now())
//
// The visits were recorded in a browser, see test/shop. Each is replayed many times, on devices of other speeds and at other
// times, through the same handler that receives what browsers send. docs/demo.md says what is to be found in it.
package demo
