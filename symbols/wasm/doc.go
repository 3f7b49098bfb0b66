// Package wasm names the functions of WebAssembly modules in profiles.
//
// A browser knows the names of a module's functions if the module has a name section. Most sites
// strip it; then the frames of their profiles are called wasm-function[N]. Both N and the name
// section count all functions, imported ones first. So the names can be restored from a build that
// still has them, whatever else was stripped:
//
//	m, err := wasm.Read(file, "app.wasm")
//	…
//	profile = profile.Coalesce(wasm.Modules{m}.Rename)
//
// Names of C++ and Rust are demangled. Names of Go can only be restored partly, see
// [Module.Function].
package wasm
