// Package pyroscope tests ingest with Pyroscope's own client, which is what Grafana's data
// source is made of. It is a module of its own, as the client brings a dozen others, and it
// talks to a process of its own: the schemas of both have the same names, and one program
// can not have two of them.
package pyroscope
