package naming

import "testing"

// Two builds may have different functions with the same name at one place. Then a frame there gets
// no name unless the build is known.
func TestSameNameOfDifferentFunctions(t *testing.T) {
	frame := at(appURL, "a", 10)
	for _, tt := range []struct {
		what      string
		name      string
		key       uint64
		wantName  string
		wantCause Problem
	}{
		{"the same function", "render", 1, "render", ""},
		{"another function of that name", "render", 2, "a", SeveralBuilds},
		{"another name", "draw", 1, "a", SeveralBuilds},
	} {
		l := &library{}
		l.add("", "shop/assets/app-3f9a81bc.js", table(1, fn(10, "a", "render", 1)))
		l.add("", "shop/assets/app-3f9a81bc.js", table(2, fn(10, "a", tt.name, tt.key)))
		names := name(l, "", frame)
		if got := names.Of("", frame).Name; got != tt.wantName {
			t.Errorf("%s: got the name %q, want %q", tt.what, got, tt.wantName)
		}
		var cause Problem
		if missing := names.Coverage().Missing; len(missing) > 0 {
			cause = missing[0].Problem
		}
		if cause != tt.wantCause {
			t.Errorf("%s: got the problem %q, want %q", tt.what, cause, tt.wantCause)
		}
	}
}

// A table fits if it has at least 49 of 50 frames.
func TestFitsWithFewMisses(t *testing.T) {
	for _, tt := range []struct {
		frames, missing int
		want            bool
	}{{50, 0, true}, {50, 1, true}, {49, 1, false}, {100, 2, true}, {99, 2, false}, {1, 1, false}} {
		build := table(1)
		s := &script{scriptKey: scriptKey{resource: appURL}}
		for i := range tt.frames {
			column := uint32(10 * (i + 1))
			f := fn(column, "a", "render", uint64(i+1))
			f.Line = 1
			build.Functions = append(build.Functions, f)
			if i < tt.missing {
				column++ // no function begins here
			}
			s.frames = append(s.frames, seen{Frame: at(appURL, "a", column)})
		}
		if got := s.fits(build); got != tt.want {
			t.Errorf("%d of %d frames are missing: got %t, want %t", tt.missing, tt.frames, got, tt.want)
		}
	}
}
