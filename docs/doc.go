// Package docs makes a site of the documentation in this folder: the daemon serves it at /docs/, and it can be
// written as files. Links between the files become links between pages, and there is a search that needs no server.
package docs
