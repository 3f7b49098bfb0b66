// Package pyroscope serves clients of Pyroscope, above all Grafana's Pyroscope data source:
// the services querier.v1.QuerierService and settings.v1.SettingsService over Connect's unary
// protocol, and the older /pyroscope/render and /pyroscope/render-diff. The data come from a
// [query.Source].
//
// # Terms
//
// Pyroscope's service_name is the site. Labels are those of fieldtrie: page, feature, release,
// environment, phase, visibility, device, browser, connection, and any other that can select a
// flame graph. There are two profile types:
//
//   - wall:wall:nanoseconds:wall:nanoseconds, the time with a stack on the main thread.
//     Grafana does not know it and goes by its unit: it divides sums by the step, so graphs
//     show seconds of main thread per second.
//   - wall:samples:count:wall:nanoseconds, the samples.
//
// # Names
//
// Grafana's flame graphs show only the name of a function, so names include the place: "render
// app.js:12:3" is defined on line 12, column 3 of a script whose URL ends with app.js. If two
// functions share such a name, both get the full URL.
package pyroscope
