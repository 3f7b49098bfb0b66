package notify

import "time"

// Outcome is what became of a sending.
type Outcome string

// The outcomes.
const (
	Accepted Outcome = "accepted"
	Retry    Outcome = "retry"   // it may be accepted later
	Refused  Outcome = "refused" // for good
)

// Result is the outcome of a sending, and what the receiver said.
type Result struct {
	Outcome Outcome
	// Pause is how long the channel is to get nothing: the receiver said so, or was not reached. 0: it may get more.
	Pause time.Duration
	// Answer is one printable line without secrets: what the receiver said, or why it was not reached.
	Answer string
	// Receipt is what the receiver calls what it got: the number of an issue, the id of an annotation. Who keeps it and puts it
	// into [Due] with the next message of the change has the receiver change that; empty if there is none.
	Receipt string
}

// Times of retries: after the nth failure a message waits shortest·4ⁿ⁻¹, longest at most. The last is a day and a half after
// the first.
const (
	shortest    = 30 * time.Second
	longest     = 6 * time.Hour
	maxAttempts = 12
	longestWait = 24 * time.Hour // that a receiver may ask for
)

// backoff returns how long a message waits after its nth failure, from 1.
func backoff(n int) time.Duration {
	d := shortest
	for ; n > 1 && d < longest; n-- {
		d *= 4
	}
	return min(d, longest)
}

// Done returns what a sending leaves behind: the attempt, the messages that are still due, and those that are given up, which
// have been refused for good or failed twelve times. After a retry with a pause, send no other batch of the channel.
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
