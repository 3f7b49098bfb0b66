package notify

import "time"

// Outcome is the outcome of a delivery.
type Outcome string

const (
	Accepted Outcome = "accepted"
	Retry    Outcome = "retry"   // may be accepted later
	Refused  Outcome = "refused" // permanently
)

// Result is the outcome of a delivery and the response of the receiver.
type Result struct {
	Outcome Outcome
	// Pause is how long to send nothing to the channel, because the receiver asked for it or was
	// unreachable. 0: no pause.
	Pause time.Duration
	// Answer is one printable line without secrets: the response, or why the receiver was
	// unreachable.
	Answer string
	// Receipt is the receiver's id of the message: the number of an issue, the id of an annotation.
	// With the receipt in [Due], the next message about the change updates the same object. Empty
	// if there is none.
	Receipt string
}

// Delays of retries: after the nth failure a message waits shortest·4ⁿ⁻¹, at most longest. The last
// retry is a day and a half after the first.
const (
	shortest    = 30 * time.Second
	longest     = 6 * time.Hour
	maxAttempts = 12
	longestWait = 24 * time.Hour // maximum delay that a receiver may request
)

// backoff returns the delay after the nth failure, from 1.
func backoff(n int) time.Duration {
	d := shortest
	for ; n > 1 && d < longest; n-- {
		d *= 4
	}
	return min(d, longest)
}

// Done returns the state after a delivery: the attempt, the messages that are still due, and
// messages that are dead: permanently refused, or failed twelve times. After a retry with a pause,
// send no other batch of the channel.
func (b Batch) Done(r Result, now time.Time) (past Attempt, due, dead []Due) {
	past = Attempt{Channel: b.Channel.Name, At: now, Accepted: r.Outcome == Accepted}
	if r.Pause > 0 {
		past.Pause = now.Add(min(r.Pause, longestWait))
	}
	if r.Outcome == Accepted {
		return past, nil, nil
	}
	for _, d := range b.Due {
		d.Attempts++
		if r.Outcome == Refused || d.Attempts >= maxAttempts {
			dead = append(dead, d)
			continue
		}
		d.NotBefore = later(now.Add(backoff(d.Attempts)), past.Pause)
		due = append(due, d)
	}
	return past, due, dead
}
