// Package wasm names the functions of WebAssembly modules in profiles.
//
// A browser knows the functions of a module by their names if the module has a name
// section. Most sites strip it, and the frames of their profiles are called
// wasm-function[N] then. N counts all functions, those that the module imports first, and
// so does the name section. So the names can be put back from a build that still has
// them, whatever else was stripped:
//
//	m, err := wasm.Read(file, "app.wasm")
//	…
//	profile = profile.Coalesce(wasm.Modules{m}.Rename)
//
// Names of C++ and Rust are demangled. Those of Go can be restored in part only, see
// [Module.Function].
package wasm
