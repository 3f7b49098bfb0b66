package notify

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"
)

// Due is a message that a channel is to get, and has not got. Callers store it until it was sent.
type Due struct {
	Message Message
	Channel string    // its name
	Since   time.Time // when it was to be sent first
	// Attempts is how often sending it has failed, and NotBefore when it is tried next, zero for at once.
	Attempts  int
	NotBefore time.Time
	// Receipt is what the receiver called what it got about the same change before, see [Result]; empty if unknown.
	Receipt string
}

// Attempt is a sending in the past. Callers keep those of a day, see [Recent].
type Attempt struct {
	Channel  string
	At       time.Time
	Accepted bool
	// Pause is until when the channel gets nothing, since its receiver said so or was not reached; zero if it gets all.
	Pause time.Time
}

// Recent returns the attempts that a plan may still need, in their order.
func Recent(past []Attempt, now time.Time) []Attempt {
	return slices.DeleteFunc(slices.Clone(past), func(a Attempt) bool { return now.Sub(a.At) >= maxPer && !a.Pause.After(now) })
}

// Plan says what happens to each message that is due: it is in exactly one of these.
type Plan struct {
	Send []Batch   // now, in this order
	Wait []Waiting // by channel
	Drop []Due     // the file has no such channel
}

// Waiting is a message that is sent later.
type Waiting struct {
	Due   Due
	Until time.Time // when it is worth to plan again
}

// Batch is what one sending has: one message, or a digest of several.
type Batch struct {
	// ID is that of the message, or of a digest: the same for the same messages.
	ID      string
	Channel *Channel
	Due     []Due
}

// Plan divides what is due. Attempts are those of the last day, in any order. The plan depends on nothing else, so each node
// makes the same.
//
// Messages that come in quiet hours wait for their end, and are one digest then. If there are more than the rate allows, the
// last of those that may be sent is a digest of the rest. A channel whose receiver asked for a pause waits as a whole.
func (f *File) Plan(due []Due, past []Attempt, now time.Time) Plan {
	var p Plan
	byChannel := map[string][]Due{}
	for _, d := range due {
		byChannel[d.Channel] = append(byChannel[d.Channel], d)
	}
	for i := range f.Channels {
		c := &f.Channels[i]
		c.plan(&p, byChannel[c.Name], past, now)
		delete(byChannel, c.Name)
	}
	for _, d := range due {
		if _, without := byChannel[d.Channel]; without {
			p.Drop = append(p.Drop, d)
		}
	}
	return p
}

func (c *Channel) plan(p *Plan, due []Due, past []Attempt, now time.Time) {
	wait := func(due []Due, until time.Time) {
		for _, d := range due {
			p.Wait = append(p.Wait, Waiting{Due: d, Until: until})
		}
	}
	var sent []time.Time
	var pause time.Time
	for _, a := range past {
		if a.Channel == c.Name && a.Accepted {
			sent = append(sent, a.At)
		}
		if a.Channel == c.Name && a.Pause.After(pause) {
			pause = a.Pause
		}
	}
	var ready []Due
	for _, d := range due {
		if d.NotBefore.After(now) {
			wait([]Due{d}, d.NotBefore)
		} else {
			ready = append(ready, d)
		}
	}
	if until := c.Quiet.until(now); pause.After(now) || !until.IsZero() {
		wait(ready, later(pause, until))
		return
	}
	free, next := c.Rate.free(sent, now)
	if free == 0 {
		wait(ready, next)
		return
	}
	// What failed before comes last, so that a message that its receiver does not take holds up no other.
	slices.SortFunc(ready, func(a, b Due) int {
		return cmp.Or(a.Attempts-b.Attempts, a.Since.Compare(b.Since), cmp.Compare(a.Message.ID, b.Message.ID))
	})
	if !conductOf(c.Kind).digests {
		for len(ready) > 0 && free > 0 {
			p.Send = append(p.Send, c.batch(ready[0]))
			ready, sent = ready[1:], append(sent, now)
			free, next = c.Rate.free(sent, now)
		}
		wait(ready, next)
		return
	}
	single, digest := c.divide(ready, free)
	for _, d := range single {
		p.Send = append(p.Send, c.batch(d))
	}
	if len(digest) > 0 {
		p.Send = append(p.Send, c.batch(digest...))
	}
}

// divide returns which messages are sent by themselves, and which as a digest, of which there is at most one. Together they
// are at most free sendings, which is at least one.
func (c *Channel) divide(ready []Due, free int) (single, digest []Due) {
	for _, d := range ready {
		if c.Quiet.until(d.Since).IsZero() {
			single = append(single, d)
		} else {
			digest = append(digest, d)
		}
	}
	sendings := len(single) + min(1, len(digest))
	if sendings > free {
		digest = append(digest, single[free-1:]...)
		single = single[:free-1]
	}
	return single, digest
}

// batch returns a sending of messages, of which there is at least one.
func (c *Channel) batch(due ...Due) Batch {
	b := Batch{ID: due[0].Message.ID, Channel: c, Due: due}
	if len(due) > 1 {
		ids := make([]string, len(due))
		for i, d := range due {
			ids[i] = d.Message.ID
		}
		slices.Sort(ids)
		sum := sha256.Sum256([]byte(strings.Join(ids, "\n")))
		b.ID = "digest-" + hex.EncodeToString(sum[:8])
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func sorted(times []time.Time) []time.Time {
	return slices.SortedFunc(slices.Values(times), time.Time.Compare)
}
