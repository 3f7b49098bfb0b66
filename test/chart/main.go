// Command chart renders a Helm chart with Helm's own library, so that tests need neither helm nor a
// cluster. It is a separate module, because the library depends on a Kubernetes client.
//
//	chart DIR RELEASE VALUES
//
// VALUES is a file of values, or - for the chart's defaults.
package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "chart:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout io.Writer) error {
	if len(args) != 3 {
		return fmt.Errorf("usage: chart DIR RELEASE VALUES")
	}
	chart, err := loader.Load(args[0])
	if err != nil {
		return fmt.Errorf("load the chart: %w", err)
	}
	if err := chart.Validate(); err != nil {
		return fmt.Errorf("validate the chart: %w", err)
	}
	values := chartutil.Values{}
	if args[2] != "-" {
		if values, err = chartutil.ReadValuesFile(args[2]); err != nil {
			return fmt.Errorf("read values: %w", err)
		}
	}
	all, err := chartutil.ToRenderValues(chart, values, chartutil.ReleaseOptions{Name: args[1], Namespace: "fieldtrie",
		IsInstall: true}, nil)
	if err != nil {
		return fmt.Errorf("check values: %w", err)
	}
	rendered, err := engine.Render(chart, all)
	if err != nil {
		return fmt.Errorf("render: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(rendered)) {
		if text := strings.TrimSpace(rendered[name]); path.Ext(name) == ".yaml" && text != "" {
			if _, err := fmt.Fprintf(stdout, "---\n%s\n", text); err != nil {
				return err
			}
		}
	}
	return nil
}
