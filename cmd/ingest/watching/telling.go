package watching

import (
	"context"
	"errors"
	"time"

	"github.com/fieldtrie/fieldtrie/notify"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/changes"
	"github.com/fieldtrie/fieldtrie/query/watch"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
)

// tellEvery is the interval between checks for due notifications.
const tellEvery = 15 * time.Second

// tell sends due notifications until ctx is done.
func (w *Watcher) tell(ctx context.Context) {
	if w.o.Notify == nil {
		return
	}
	tick := time.NewTicker(tellEvery)
	defer tick.Stop()
	for {
		if err := w.tellOnce(ctx); err != nil && ctx.Err() == nil {
			w.o.Log.Error("sending notifications failed; will retry", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// tellOnce sends the notifications that are due now. It claims a message in the document before
// sending it, so that no other node sends it, and stores the result afterwards. If the node ends in
// between, the message is sent again with the same id.
func (w *Watcher) tellOnce(ctx context.Context) error {
	now := w.o.Now()
	r, err := w.board.Register(ctx)
	if err != nil {
		return err
	}
	w.past = notify.Recent(w.past, now)
	due, unwanted := w.due(r, now)
	plan := w.o.Notify.Plan(due, w.past, now)
	var attempts []changes.Attempt
	for _, b := range plan.Send {
		for _, d := range b.Due {
			attempts = append(attempts, changes.Attempt{Notification: d.Message.ID, Channel: d.Channel})
		}
	}
	attempts = append(attempts, unwanted...)
	if len(attempts) > 0 {
		taken, _, err := w.board.Take(ctx, func(*changes.Register, time.Time) []changes.Attempt { return attempts })
		if err != nil {
			return err
		}
		if err := w.send(ctx, plan.Send, unwanted, taken); err != nil {
			return err
		}
	}
	w.repeat(ctx, r, now)
	return nil
}

// due returns the due messages, and the notifications that the filters of channels exclude.
func (w *Watcher) due(r *changes.Register, now time.Time) (due []notify.Due, unwanted []changes.Attempt) {
	view := w.View(query.Pages{})
	for i := range w.o.Notify.Channels {
		c := &w.o.Notify.Channels[i]
		for _, n := range r.Due(c.Name, now) {
			m, ok := w.message(r, view, n)
			if !ok || !c.Wants(m) {
				unwanted = append(unwanted, changes.Attempt{Notification: n.ID, Channel: c.Name})
				continue
			}
			due = append(due, notify.Due{Message: m, Channel: c.Name, Since: n.Since,
				Attempts: n.Channels[c.Name].Attempts, Receipt: w.receipts[c.Name+" "+n.Change]})
		}
	}
	return due, unwanted
}

// message returns the message of a notification. ok is false if its subject is no longer stored.
func (w *Watcher) message(r *changes.Register, view changes.View, n changes.Notification) (m notify.Message, ok bool) {
	if b := r.BrakeOf(n.Change); b != nil {
		return brakeMessage(n, b, w.o.Notify.Dashboard), true
	}
	item, ok := view.Item(r, n.Change)
	if !ok {
		return m, false
	}
	return messageOf(n, &item, w.history(&item), w.o.Notify.Dashboard), true
}

// send sends the batches whose messages were all claimed, and stores the results.
func (w *Watcher) send(ctx context.Context, batches []notify.Batch, unwanted, taken []changes.Attempt) error {
	is := map[changes.Attempt]bool{}
	for _, a := range taken {
		is[a] = true
	}
	var outcomes []changes.Outcome
	for _, a := range unwanted {
		outcomes = append(outcomes, changes.Outcome{Attempt: a})
	}
	paused := map[string]bool{}
	for _, b := range batches {
		for _, d := range b.Due { // another node claimed some messages, so send the others separately
			if !is[changes.Attempt{Notification: d.Message.ID, Channel: d.Channel}] {
				b.Due = nil
				break
			}
		}
		if len(b.Due) == 0 || paused[b.Channel.Name] {
			continue // it becomes due again when the claim expires
		}
		outcomes = append(outcomes, w.sendBatch(ctx, b, paused)...)
	}
	var channels []string
	for i := range w.o.Notify.Channels {
		channels = append(channels, w.o.Notify.Channels[i].Name)
	}
	return w.board.Note(ctx, outcomes, channels)
}

func (w *Watcher) sendBatch(ctx context.Context, b notify.Batch, paused map[string]bool) (outcomes []changes.Outcome) {
	result := w.sender.Send(ctx, b)
	w.metrics.told.WithLabelValues(b.Channel.Name, string(result.Outcome)).Inc()
	attempt, again, dead := b.Done(result, w.o.Now())
	w.past = append(w.past, attempt)
	paused[b.Channel.Name] = !attempt.Pause.IsZero()
	why := errors.New(result.Answer)
	of := func(d notify.Due) changes.Attempt {
		return changes.Attempt{Notification: d.Message.ID, Channel: d.Channel}
	}
	for _, d := range again {
		outcomes = append(outcomes, changes.Outcome{Attempt: of(d), Failed: why, Next: d.NotBefore})
	}
	for _, d := range dead {
		outcomes = append(outcomes, changes.Outcome{Attempt: of(d), Failed: why})
	}
	if result.Outcome == notify.Accepted {
		for _, d := range b.Due {
			outcomes = append(outcomes, changes.Outcome{Attempt: of(d)})
			if result.Receipt != "" {
				w.receipts[d.Channel+" "+d.Message.Change] = result.Receipt
			}
		}
		w.o.Log.Info("told of changes", "channel", b.Channel.Name, "messages", len(b.Due))
		return outcomes
	}
	w.o.Log.Warn("a channel did not take what changed", "channel", b.Channel.Name, "outcome", string(result.Outcome),
		"answer", result.Answer, "given_up", len(dead))
	return outcomes
}

// repeat sends open changes again to channels whose receivers forget them.
func (w *Watcher) repeat(ctx context.Context, r *changes.Register, now time.Time) {
	view := w.View(query.Pages{})
	var open []notify.Message
	for i := range r.Changes {
		c := &r.Changes[i]
		if c.State != watch.Open || c.Direction == watch.Moved {
			continue
		}
		if item, ok := view.Item(r, c.ID); ok {
			open = append(open, messageOf(changes.Notification{ID: c.ID, Event: changes.EventFound, Since: c.Found},
				&item, w.history(&item), w.o.Notify.Dashboard))
		}
	}
	for _, b := range w.o.Notify.Repeats(open, w.repeated, now) {
		w.repeated[b.Channel.Name] = now
		if result := w.sender.Send(ctx, b); result.Outcome != notify.Accepted && ctx.Err() == nil {
			w.o.Log.Warn("a channel could not be told again of what is open", "channel", b.Channel.Name, "answer",
				result.Answer)
		}
	}
}

// history returns the uploaded commits of the release of a change.
func (w *Watcher) history(c *changes.Item) naming.History {
	return w.o.Source.OfPage(c.Pages[0].Page).Symbols.History(c.Release)
}
