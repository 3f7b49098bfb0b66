package docs_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/test/freeaddr"
)

// TestTutorial runs all commands of the tutorial, in order, and looks for what it says of them.
func TestTutorial(t *testing.T) {
	source, err := os.ReadFile("tutorial.md")
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	script.WriteString("set -e\ntrap 'kill %1 2>/dev/null || true' EXIT\n")
	step := ""
	for line := range strings.Lines(string(source)) {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			step = strings.TrimSpace(heading)
			fmt.Fprintf(&script, "echo '=== %s'\n", step)
		}
		if command, ok := strings.CutPrefix(line, "    "); ok {
			script.WriteString(command)
		}
	}
	text := script.String()
	for _, addr := range []string{"127.0.0.1:8418", "127.0.0.1:8419"} {
		text = strings.ReplaceAll(text, addr, freeaddr.Of(t))
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-c", text)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, text, out)
	}
	said := map[string]string{}
	for part := range strings.SplitSeq(string(out), "=== ") {
		heading, rest, _ := strings.Cut(part, "\n")
		said[heading] = rest
	}
	for step, wants := range map[string][]string{
		"1. Start the daemon": {"ready"},
		"3. Find out where the time goes": {"/products", "120 page views",
			"formatPrice (https://shop.example/app.js:42:3)", "showProducts", "P75 WHERE SEEN"},
		"4. Set a limit": {"blown", "products are quick", "team-shop"},
		"6. Show that it worked": {"🔽 **Faster**", "<code>formatPrice</code>", "120 and 120 page views",
			"Budgets: 0 of 1 not kept"},
	} {
		for _, want := range wants {
			if !strings.Contains(said[step], want) {
				t.Errorf("%s: no %q in\n%s", step, want, said[step])
			}
		}
	}
	if strings.Contains(said["6. Show that it worked"], "<code>drawList</code>") {
		t.Errorf("drawList has changed:\n%s", said["6. Show that it worked"])
	}
}
