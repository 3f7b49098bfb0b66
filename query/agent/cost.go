package agent

import (
	"context"
	"strings"

	"github.com/fieldtrie/fieldtrie/internal/terminal"
	"github.com/fieldtrie/fieldtrie/query/cost"
)

type costIn struct {
	Selection
}

type costOut struct {
	cost.Report
}

func (t tools) cost(ctx context.Context, in costIn) (out costOut, err error) {
	sel, err := t.selection(in.Selection)
	if err != nil {
		return out, err
	}
	got, err := t.Source.Cost(ctx, sel)
	out.Report = got.Report
	return out, err
}

func (o costOut) text() string {
	var b strings.Builder
	_ = o.WriteText(&b, terminal.Screen{}) // a builder never fails
	return b.String()
}
