// Package pyroscope tests ingest with Pyroscope's own client, which Grafana's data source
// uses, too. It is a module of its own, as the client brings a dozen others. The daemon
// runs in a separate process: the schemas of both have the same names, and one program
// cannot contain both.
package pyroscope
