package outline_test

import (
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/symbols/outline"
)

func TestComponentScripts(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"empty", "", ""},
		{"no script", "<p>a</p>", "        "},
		{"vue", "<template>\n<p/></template>\n<script setup lang=\"ts\">\nf()\n</script>\n",
			"          \n               \n                        \nf()\n         \n"},
		{"two", "<script>a</script><script>b</script>", "        a                 b         "},
		{"generics", `<script generics="T extends A<B>">a</script>`, "                                  a         "},
		{"capitals", "<SCRIPT>a</Script>", "        a         "},
		{"not closed", "<script>a", "        a"},
		{"tag not closed", "<script a", "         "},
		{"self-closing", `<script src="a.js"/><p>b</p>`, strings.Repeat(" ", 28)},
		{"data", `<script type="application/ld+json">{}</script>`, strings.Repeat(" ", 46)},
		{"comment", "<!-- <script>a</script> --><script>b</script>", strings.Repeat(" ", 35) + "b         "},
		{"comment not closed", "<!-- <script>a</script>", strings.Repeat(" ", 23)},
		{"another tag", "<scripts>a</scripts>", strings.Repeat(" ", 20)},
		{"less in it", "<script>a</b</script>", "        a</b         "},
		{"frontmatter", "---\nf()\n---\n<p/><script>g</script>", "   \nf()\n   \n            g         "},
		{"frontmatter not closed", "---\nf()", "   \n   "},
		{"ends of lines", "é\r\n\u2028\u2029\r<script>\u2028é</script>",
			"  \r\n\u2028\u2029\r        \u2028é         "},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := string(outline.ComponentScripts([]byte(test.text))); got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}
