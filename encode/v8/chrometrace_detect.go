package v8

import "github.com/fieldtrie/fieldtrie/encode/internal/input"

// IsChromeTrace reports whether head begins like input of [DecodeChromeTrace]: a list with
// a phase in an early element, or an object with a list of events.
func IsChromeTrace(head []byte) bool {
	var r input.JSON
	r.Reset(head)
	if r.Peek() == '[' {
		return isEventList(&r)
	}
	frames, samples := false, false
	for r.Object(); r.Key(); {
		switch string(r.Name) {
		case "traceEvents":
			return r.Peek() == '[' || r.Peek() == 'n'
		case "stackFrames":
			frames = r.Peek() == '{'
			r.Skip()
		case "samples":
			if r.Peek() != '[' {
				return false
			}
			if r.Array(); r.Element() {
				return r.HasMember("sf", "cpu", "ts")
			}
			samples = true
		case "metadata": // may be longer than head, and DevTools writes it first
			if isDevToolsMetadata(&r) {
				return true
			}
		default:
			r.Skip()
		}
	}
	return frames && samples && r.Err == nil
}

// isDevToolsMetadata reads the metadata of a trace until it finds that DevTools saved it.
func isDevToolsMetadata(r *input.JSON) bool {
	if r.Peek() != '{' {
		r.Skip()
		return false
	}
	for r.Object(); r.Key(); {
		if string(r.Name) == "source" && r.Peek() == '"' {
			if string(r.Str()) == "DevTools" {
				return true
			}
			continue
		}
		r.Skip()
	}
	return false
}

// isEventList looks for an event. Some programs begin the list with other values.
func isEventList(r *input.JSON) bool {
	r.Array()
	empty := true
	for ; r.Element(); empty = false {
		if r.Peek() != '{' {
			r.Skip()
			continue
		}
		for r.Object(); r.Key(); r.Skip() {
			if string(r.Name) == "ph" {
				return true
			}
		}
	}
	return empty && r.Err == nil // a trace of nothing
}
