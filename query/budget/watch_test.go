package budget

import (
	"slices"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/query/watch"
)

// A file may contain watch only.
func TestWatch(t *testing.T) {
	f, err := Parse(strings.NewReader(
		"watch:\n  pages: [/shop/**, /cart]\n  of: [page, vital]\n  min: 2ms\n  min_share: 3%\n  min_function: 5%\n " +
			" min_views: 200\n"))
	if err != nil {
		t.Fatal(err)
	}
	w := f.Watch
	if w.Min != 2 || w.MinShare != 0.03 || w.MinFunction != 0.05 || w.MinViews != 200 ||
		!slices.Equal(w.Of, []watch.Kind{watch.OfPage, watch.OfVital}) {
		t.Errorf("%+v", w)
	}
	for page, want := range map[string]bool{"/shop/a/b": true, "/cart": true, "/cart/x": false, "/": false} {
		if w.Pages(page) != want {
			t.Errorf("%s: %t", page, !want)
		}
	}
	if f, err := Parse(strings.NewReader("watch: {}\n")); err != nil || f.Watch.Pages != nil {
		t.Errorf("%+v, %v", f, err)
	}
}
