package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestMCP starts the program and queries it, as an agent does.
func TestMCP(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), runMain+"=mcp --data "+storeOfRelease(t))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
		&mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "top_functions",
		Arguments: map[string]any{"release": "r1"}})
	if err != nil || res.IsError || !strings.Contains(res.Content[0].(*mcp.TextContent).Text, "page views") {
		t.Errorf("got %+v, %v", res, err)
	}
	if err := session.Close(); err != nil {
		t.Errorf("the program ends: %v\n%s", err, stderr.String())
	}
	if stderr.Len() > 0 {
		t.Errorf("standard error has\n%s", stderr.String())
	}
}

// TestMCPUsage checks that mistakes on the command line are reported before any response.
func TestMCPUsage(t *testing.T) {
	for args, want := range map[string]string{
		"--data nowhere": "no data directory nowhere", "extra": `unexpected argument "extra"`,
		"--page /feed":                "unknown flag: --page",
		"--addr 127.0.0.1:1 --data d": "use one of them", "--site A": `--site: "A" is not the name of a site`,
		"--data . --budgets nowhere.yaml": "--budgets: open nowhere.yaml",
	} {
		var stdout, stderr bytes.Buffer
		err := run(t.Context(), append([]string{"mcp"}, strings.Fields(args)...), strings.NewReader(""),
			&stdout, &stderr)
		if err == nil || !strings.Contains(err.Error(), want) || stdout.Len() > 0 {
			t.Errorf("%s: got %v, want %s; standard output %q", args, err, want, stdout.String())
		}
	}
	var stdout bytes.Buffer
	if err := run(t.Context(), []string{"mcp", "--help"}, strings.NewReader(""), &stdout, &stdout); err != nil ||
		!strings.Contains(stdout.String(), `"mcpServers"`) {
		t.Errorf("%v\n%s", err, stdout.String())
	}
}

// TestInspector queries the server with the inspector of the Model Context Protocol, whose command
// line is in INSPECTOR. The inspector takes 150 MB, so only make test-mcp installs and runs it.
func TestInspector(t *testing.T) {
	inspector := strings.Fields(os.Getenv("INSPECTOR"))
	if len(inspector) == 0 {
		t.Skip("make test-mcp runs it")
	}
	ask := func(args ...string) (answer map[string]any) {
		cmd := exec.Command(inspector[0], append(append(inspector[1:], "-e", runMain+"=mcp --data "+storeOfRelease(t),
			os.Args[0]), args...)...)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err == nil {
			err = json.Unmarshal(out, &answer)
		}
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return answer
	}
	if tools := ask("--method", "tools/list")["tools"].([]any); len(tools) != 12 {
		t.Errorf("%d tools", len(tools))
	}
	got := ask("--method", "tools/call", "--tool-name", "top_functions", "--tool-arg", "release=r1",
		"--tool-arg", "limit=1")
	if functions := got["structuredContent"].(map[string]any)["functions"].([]any); len(functions) != 1 {
		t.Errorf("got %v", got)
	}
}
