// Package pyroscope answers the questions that clients of Pyroscope ask, above all those of
// the Pyroscope data source of Grafana: the services querier.v1.QuerierService and
// settings.v1.SettingsService over the unary protocol of Connect, and the older
// /pyroscope/render and /pyroscope/render-diff. What they ask is answered by a [query.Source].
//
// # Words
//
// The service_name of Pyroscope is the site. Labels are those of fieldtrie: page, feature,
// release, environment, phase, visibility, device, browser, connection, and any other that a
// flame graph can be asked for. There are two profile types:
//
//   - wall:wall:nanoseconds:wall:nanoseconds, the time with a stack on the main thread.
//     Grafana does not know it and goes by its unit: sums that are divided by the step, so
//     that graphs show seconds of main thread a second.
//   - wall:samples:count:wall:nanoseconds, the samples.
//
// # Names
//
// In a flame graph of Grafana the name is all that there is of a function, so names say
// where it is: "render app.js:12:3" is defined on line 12, column 3 of a script whose URL
// ends with app.js. Where that is the name of two functions, both have the whole URL.
package pyroscope
