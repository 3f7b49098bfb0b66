package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// properties are the names of the input properties by tool.
type properties map[string][]string

// addTo adds the properties of a tool's input.
func addTo[In any](p properties, tool string) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[In]()) {
		if !f.Anonymous {
			property, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			p[tool] = append(p[tool], property)
		}
	}
	slices.Sort(p[tool])
}

// check is middleware that rejects calls with unknown properties, and names the known ones.
func (p properties) check(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		if call, ok := r.GetParams().(*mcp.CallToolParamsRaw); ok && len(p[call.Name]) > 0 {
			given := map[string]json.RawMessage{}
			_ = json.Unmarshal(call.Arguments, &given) // other values are rejected later
			for _, property := range slices.Sorted(maps.Keys(given)) {
				if !slices.Contains(p[call.Name], property) {
					var res mcp.CallToolResult
					res.SetError(fmt.Errorf("unknown property %q; known are %s", name(property),
						strings.Join(p[call.Name], ", ")))
					return &res, nil
				}
			}
		}
		return next(ctx, method, r)
	}
}
