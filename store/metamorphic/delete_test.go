package metamorphic

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/store/shared/deletion"
)

// view returns the traces of a random page view that will not expire soon, and their number of
// rows. It returns none if there is no such view.
func (m *model) view(r *rand.Rand) (list []*instance, rows uint64) {
	all := m.in(time.Time{}, time.Time{})
	if len(all) == 0 {
		return nil, 0
	}
	of := all[r.IntN(len(all))].ID.View
	for _, x := range all {
		if x.ID.View != of {
			continue
		}
		if x.received.Before(m.horizon().Add(3 * time.Hour)) {
			return nil, 0
		}
		list = append(list, x)
		rows += uint64(len(x.Pages))
	}
	return list, rows
}

// forget removes deleted traces from the model. They may be sent again.
func (m *model) forget(list []*instance) {
	gone := func(x *instance) bool { return slices.Contains(list, x) }
	maps.DeleteFunc(m.instances, func(_ place, x *instance) bool { return gone(x) })
	for _, x := range list {
		m.of[x.ID] = slices.DeleteFunc(m.of[x.ID], gone)
		delete(m.known, x.ID)
	}
	m.acked = []moment{{sums: sums{}}}
	m.settle()
}

// delete deletes a page view, even if the store is restarted meanwhile.
func (x *run) delete(ctx context.Context) error {
	list, rows := x.model.view(x.r)
	if len(list) == 0 {
		return nil
	}
	id := hex.EncodeToString(list[0].ID.View[:])
	x.note("delete view %s, %d rows", id, rows)
	defer x.home.works()()
	req, err := x.s.node().Delete(ctx, deletion.Selection{Views: []string{id}}, "run", false)
	if err != nil {
		return err
	}
	crashes := x.r.IntN(3)
	for range crashes {
		x.note("  crash")
		if err := errors.Join(x.home.crash(ctx, x.s), x.open(ctx)); err != nil {
			return err
		}
	}
	for range 50 {
		if err := x.move(ctx, time.Second); err != nil { // clocks of nodes may differ
			return err
		}
		x.s.Maintain(ctx)
		all, err := x.s.node().Deletions(ctx, 1000)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(all, func(r *deletion.Request) bool { return r.ID == req.ID })
		if i < 0 {
			return fmt.Errorf("deletion %s is lost", req.ID)
		}
		if all[i].Done.IsZero() {
			continue
		}
		if all[i].Counts.Traces != rows || all[i].Counts.Parts > 0 {
			return fmt.Errorf("deleted %+v, want %d traces", all[i].Counts, rows)
		}
		x.model.forget(list)
		if crashes == 0 {
			return x.everything(ctx)
		}
		err = x.everything(ctx) // notes the page views that exist
		x.model.forgetOutcomes()
		return err
	}
	return fmt.Errorf("deletion %s does not finish", req.ID)
}
