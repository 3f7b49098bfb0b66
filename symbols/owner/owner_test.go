package owner

import (
	"testing"

	"github.com/fieldtrie/fieldtrie/trie"
)

func TestOwnerTexts(t *testing.T) {
	for text, o := range map[string]Owner{
		"app":                         {Kind: App, Team: "@acme/shop"},
		"package lodash":              {Kind: Package, Name: "lodash", Version: "4.17.21"},
		"package vendor/three":        {Kind: Package, Name: "vendor/three"},
		"framework react-dom":         {Kind: Framework, Name: "react-dom"},
		"runtime webpack":             {Kind: Runtime, Name: "webpack"},
		"third-party cdn.example.com": {Kind: ThirdParty, Name: "cdn.example.com"},
		"extension":                   {Kind: Extension},
		"browser":                     {Kind: Browser},
		"unmapped":                    {Kind: Unmapped},
		"unknown":                     {Kind: Unknown},
	} {
		if got := o.String(); got != text {
			t.Errorf("got %q, want %q", got, text)
		}
		f := o.Frame()
		if want := (trie.Frame{Name: "(" + text + ")"}); f != want {
			t.Errorf("frame %v, want %v", f, want)
		}
		if back := Default().Of(f, Origin{}); back.String() != text {
			t.Errorf("the frame of %q has the owner %q", text, back)
		}
		if !o.Is(text) || !o.Is(string(o.Kind)) || o.Is("package") != (o.Kind == Package) || o.Is("react-dom") {
			t.Errorf("%q: wrong kind", text)
		}
	}
}

// Frames that replace hidden code belong to the owners of that code.
func TestOwnerFramesAreThoseOfIngest(t *testing.T) {
	if got, want := (Owner{Kind: ThirdParty, Name: "ads.example"}).Frame(),
		trie.ThirdParty("ads.example"); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := (Owner{Kind: Unknown}).Frame(), (trie.Frame{Name: trie.FrameUnknown}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestOfTeam(t *testing.T) {
	for _, tt := range []struct {
		team, asked string
		want        bool
	}{
		{"@acme/shop", "@acme/shop", true},
		{"@acme/shop @acme/web", "@acme/web", true},
		{"@acme/shop @acme/web", "@acme/shop @acme/web", true},
		{"Team Shop", "Team Shop", true},
		{"@acme/shop", "@acme", false},
		{"", "", false},
		{"@acme/shop", "", false},
	} {
		if got := (Owner{Kind: App, Team: tt.team}).OfTeam(tt.asked); got != tt.want {
			t.Errorf("%q of %q: got %v", tt.team, tt.asked, got)
		}
	}
}
