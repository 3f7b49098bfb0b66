// Package docs renders the documentation in this folder as a site. The daemon serves it at /docs/,
// and it can be written as files. Links between the files become links between pages, and the
// search needs no server.
package docs
