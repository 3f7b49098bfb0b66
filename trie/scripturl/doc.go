// Package scripturl parses URLs of scripts: the debug ID of a build, and the npm package of a
// source file.
package scripturl
