package notify

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"
)

// Due is a message that is due for a channel. Callers store it until it is sent.
type Due struct {
	Message Message
	Channel string    // name of the channel
	Since   time.Time // when it became due
	// Attempts is the number of failed attempts, and NotBefore the time of the next one, zero for
	// now.
	Attempts  int
	NotBefore time.Time
	// Receipt is the receiver's id of the previous message about the same change, see [Result];
	// empty if unknown.
	Receipt string
}

// Attempt is a past delivery. Callers keep the attempts of one day, see [Recent].
type Attempt struct {
	Channel  string
	At       time.Time
	Accepted bool
	// Pause is the time until which the channel gets nothing, because its receiver asked for a
	// pause or was unreachable; zero if there is no pause.
	Pause time.Time
}

// Recent returns the attempts that a plan may still need, in the given order.
func Recent(past []Attempt, now time.Time) []Attempt {
	return slices.DeleteFunc(slices.Clone(past), func(a Attempt) bool {
		return now.Sub(a.At) >= maxPer && !a.Pause.After(now)
	})
}

// Plan divides due messages: each is in exactly one of the lists.
type Plan struct {
	Send []Batch   // now, in this order
	Wait []Waiting // by channel
	Drop []Due     // the file no longer has the channel
}

// Waiting is a message to send later.
type Waiting struct {
	Due   Due
	Until time.Time // time of the next plan
}

// Batch is the content of one delivery: a message, or a digest of several.
type Batch struct {
	// ID is the id of the message, or of the digest: the same for the same messages.
	ID      string
	Channel *Channel
	Due     []Due
}

// Plan divides the due messages. past are the attempts of the last day, in any order. The plan
// depends on nothing else, so every node computes the same one.
//
// Messages that are due in quiet hours wait for their end and then form a digest. If there are more
// messages than the rate allows, the last allowed delivery is a digest of the rest. If the receiver
// of a channel asked for a pause, the complete channel waits.
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
	// Failed messages come last, so that a message that its receiver rejects does not block others.
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

// divide returns the messages to send separately, and the messages of the digest, of which there is
// at most one. Together they are at most free deliveries; free is at least one.
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

// batch returns a batch of one or more messages.
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
