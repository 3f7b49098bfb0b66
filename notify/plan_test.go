package notify

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
)

// Quiet hours end at the first local minute outside of them.
func TestQuiet(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	zones := []string{"UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia",
		"America/Sao_Paulo"}
	quiet := 0
	for range 20_000 {
		from, to := fmt.Sprintf("%02d:%02d", random.IntN(24), random.IntN(60)), fmt.Sprintf("%02d:%02d",
			random.IntN(24), random.IntN(60))
		zone := zones[random.IntN(len(zones))]
		if from == to {
			continue
		}
		q, err := parseQuiet(from + "-" + to + " " + zone)
		if err != nil {
			t.Fatal(err)
		}
		silent := func(at time.Time) bool { // compares local times
			shown := at.In(q.zone).Format("15:04")
			if from < to {
				return from <= shown && shown < to
			}
			return shown >= from || shown < to
		}
		at := time.Unix(1_577_836_800+random.Int64N(6*365*86400), 0)
		end := q.until(at)
		if silent(at) == end.IsZero() {
			t.Fatalf("%s-%s %s at %s: got %s", from, to, zone, at.In(q.zone), end)
		}
		if end.IsZero() {
			continue
		}
		quiet++
		first := at.Truncate(time.Minute)
		for silent(first) {
			first = first.Add(time.Minute)
		}
		// If the clock is set back over the end, either time is accepted; if it is set forward, the
		// end may be late.
		if d := end.Sub(first); d < -time.Hour || d > time.Hour || !end.After(at) {
			t.Fatalf("%s-%s %s at %s: got %s, want %s", from, to, zone, at.In(q.zone), end, first.In(q.zone))
		}
		if _, before := at.In(q.zone).Zone(); true {
			if _, after := first.Add(2 * time.Hour).In(q.zone).Zone(); before == after && !end.Equal(first) {
				t.Fatalf("%s-%s %s at %s: got %s, want %s", from, to, zone, at.In(q.zone), end, first.In(q.zone))
			}
		}
	}
	if quiet < 5000 {
		t.Errorf("only %d times were in quiet hours", quiet)
	}
}

// Random messages are planned and sent to failing receivers for days of simulated time. No message
// is lost, no channel exceeds its rate or gets messages in its quiet hours, only allowed digests
// are made, and in the end nothing is due.
func TestPlanAgainstModel(t *testing.T) {
	const file = `channels:
  - {name: plain, kind: slack, secret_env: S}
  - {name: rated, kind: webhook, target: "https://x.example", secret_env: S, rate: 3/1h}
  - {name: one, kind: webhook, target: "https://x.example", secret_env: S, rate: 1/30m}
  - {name: nights, kind: email, target: "smtp://x.example", from: f@x.example, to: [t@x.example], quiet_hours: ` +
		`22:00-07:00 Europe/Berlin}
  - {name: both, kind: slack, secret_env: S, quiet_hours: 12:00-13:00 UTC, rate: 2/2h}
  - {name: issues, kind: github, target: "https://github.com/a/b", as: issue, secret_env: S, rate: 2/1h}
  - {name: alerts, kind: alertmanager, target: "http://am"}
`
	f, err := Parse(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"plain", "rated", "one", "nights", "both", "issues", "alerts"}
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 7))
		m := model{t: t, file: f, delivered: map[string]int{}, dead: map[string]bool{}, sent: map[string][]time.Time{},
			random: random}
		start := time.Date(2026, 3, 28, 0, 0, 0, 0, time.UTC) // DST begins in the next night
		made := 0
		for minute := range 8 * 24 * 60 {
			now := start.Add(time.Duration(minute) * time.Minute)
			if minute < 3*24*60 && random.IntN(40) == 0 {
				for range 1 + random.IntN(4) {
					made++
					m.due = append(m.due, Due{Message: Message{ID: fmt.Sprint("m", made)},
						Channel: names[random.IntN(len(names))], Since: now})
				}
			}
			m.down = random.IntN(20) == 0
			m.round(now)
		}
		if len(m.due) > 0 || len(m.delivered)+len(m.dead) != made {
			t.Errorf("seed %d: of %d messages %d were delivered, %d given up, %d are due", seed, made, len(m.delivered),
				len(m.dead), len(m.due))
		}
		if m.digests == 0 || len(m.dead) == 0 {
			t.Errorf("seed %d: %d digests, %d given up: the test has too few cases", seed, m.digests, len(m.dead))
		}
		for id, n := range m.delivered {
			if n > 1 || m.dead[id] {
				t.Errorf("seed %d: %s was delivered %d times, given up %v", seed, id, n, m.dead[id])
			}
		}
	}
}

type model struct {
	t         *testing.T
	file      *File
	random    *rand.Rand
	due       []Due
	past      []Attempt
	down      bool
	digests   int
	delivered map[string]int
	dead      map[string]bool
	sent      map[string][]time.Time
}

func (m *model) round(now time.Time) {
	plan := m.file.Plan(m.due, m.past, now)
	shuffled := append([]Due(nil), m.due...)
	m.random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	if again := m.file.Plan(shuffled, m.past, now); !reflect.DeepEqual(again.Send, plan.Send) {
		m.t.Fatalf("the plan depends on the order: %+v and %+v", plan.Send, again.Send)
	}
	var rest []Due
	for _, w := range plan.Wait {
		if !w.Until.After(now) {
			m.t.Fatalf("%s waits at %s until %s", w.Due.Channel, now, w.Until)
		}
		rest = append(rest, w.Due)
	}
	total, paused := len(plan.Wait), map[string]bool{}
	for _, b := range plan.Send {
		total += len(b.Due)
		if paused[b.Channel.Name] {
			rest = append(rest, b.Due...)
			continue
		}
		m.check(b, now)
		r := m.receive(b)
		past, again, dead := b.Done(r, now)
		m.past, rest = append(m.past, past), append(rest, again...)
		paused[b.Channel.Name] = r.Outcome == Retry && r.Pause > 0
		for _, d := range dead {
			m.dead[d.Message.ID] = true
		}
		if r.Outcome == Accepted {
			m.sent[b.Channel.Name] = append(m.sent[b.Channel.Name], now)
			for _, d := range b.Due {
				m.delivered[d.Message.ID]++
			}
		}
	}
	if total != len(m.due) || len(plan.Drop) > 0 {
		m.t.Fatalf("of %d messages %d are planned, %d dropped", len(m.due), total, len(plan.Drop))
	}
	m.due, m.past = rest, Recent(m.past, now)
}

// check fails if a delivery breaks a rule of its channel.
func (m *model) check(b Batch, now time.Time) {
	c := b.Channel
	if len(b.Due) > 1 {
		m.digests++
		if !conductOf(c.Kind).digests {
			m.t.Fatalf("a digest for %s", c.Name)
		}
	}
	if c.Name == "nights" {
		if hour := now.In(c.Quiet.zone).Hour(); hour >= 22 || hour < 7 {
			m.t.Fatalf("sent at %s in quiet hours", now)
		}
	}
	if c.Rate != nil {
		within := 0
		for _, at := range m.sent[c.Name] {
			if now.Sub(at) < c.Rate.Per {
				within++
			}
		}
		if within >= c.Rate.Number {
			m.t.Fatalf("%s received more than %d in %s", c.Name, c.Rate.Number, c.Rate.Per)
		}
	}
	for _, a := range m.past {
		if a.Channel == c.Name && a.Pause.After(now) {
			m.t.Fatalf("%s received a message during a pause", c.Name)
		}
	}
	for _, d := range b.Due {
		if d.NotBefore.After(now) {
			m.t.Fatalf("%s is sent before %s", d.Message.ID, d.NotBefore)
		}
	}
}

func (m *model) receive(b Batch) Result {
	switch n := m.random.IntN(100); {
	case m.down:
		return unreached(fmt.Errorf("down"))
	case n < 5:
		return Result{Outcome: Retry, Pause: time.Duration(m.random.IntN(7200)) * time.Second}
	case n < 10:
		return Result{Outcome: Retry}
	case n < 13:
		return Result{Outcome: Refused}
	}
	return Result{Outcome: Accepted}
}

// Messages of the night come as one mail in the morning, and later ones separately.
func TestDigestOfTheNight(t *testing.T) {
	f, err := Parse(strings.NewReader(
		"channels: [{name: n, kind: slack, secret_env: S, quiet_hours: 22:00-07:00 UTC}]"))
	if err != nil {
		t.Fatal(err)
	}
	at := func(clock string) time.Time {
		tm, err := time.Parse("2006-01-02 15:04", "2026-05-"+clock)
		if err != nil {
			t.Fatal(err)
		}
		return tm
	}
	due := []Due{{Message: Message{ID: "a"}, Channel: "n", Since: at("01 23:00")}, {Message: Message{ID: "b"},
		Channel: "n", Since: at("02 03:00")}, {Message: Message{ID: "c"}, Channel: "n", Since: at("02 07:00")}}
	if p := f.Plan(due[:2], nil, at("02 06:59")); len(p.Send) != 0 || len(p.Wait) != 2 ||
		!p.Wait[0].Until.Equal(at("02 07:00")) {
		t.Errorf("got %+v", p)
	}
	p := f.Plan(due, nil, at("02 07:00"))
	if len(p.Send) != 2 || p.Send[0].ID != "c" || len(p.Send[1].Due) != 2 || !strings.HasPrefix(p.Send[1].ID,
		"digest-") {
		t.Errorf("got %+v", p)
	}
	if p := f.Plan(due[:1], nil, at("02 07:00")); len(p.Send) != 1 || p.Send[0].ID != "a" {
		t.Errorf("got %+v", p)
	}
	if p := f.Plan([]Due{{Channel: "gone"}}, nil, at("02 07:00")); len(p.Drop) != 1 {
		t.Errorf("got %+v", p)
	}
}

func TestDone(t *testing.T) {
	c := &Channel{Name: "c"}
	now := time.Unix(1_800_000_000, 0)
	d := Due{Channel: "c"}
	waited := time.Duration(0)
	for n := 1; ; n++ {
		past, due, dead := Batch{Channel: c, Due: []Due{d}}.Done(Result{Outcome: Retry}, now)
		if past.Accepted || !past.Pause.IsZero() || len(due)+len(dead) != 1 {
			t.Fatalf("got %+v, %v, %v", past, due, dead)
		}
		if len(dead) == 1 {
			if n != maxAttempts || waited < 24*time.Hour || waited > 3*24*time.Hour {
				t.Errorf("given up after %d failures and %s", n, waited)
			}
			break
		}
		if d = due[0]; !d.NotBefore.After(now) {
			t.Errorf("got %+v", d)
		}
		waited += d.NotBefore.Sub(now)
	}
	if past, due, _ := (Batch{Channel: c, Due: []Due{{}}}).Done(Result{Outcome: Retry, Pause: 48 * time.Hour},
		now); past.Pause != now.Add(24*time.Hour) || due[0].NotBefore != past.Pause {
		t.Errorf("got %+v, %+v", past, due)
	}
	if _, due, dead := (Batch{Channel: c, Due: []Due{{}, {}}}).Done(Result{Outcome: Refused}, now); len(due) != 0 ||
		len(dead) != 2 {
		t.Errorf("got %v, %v", due, dead)
	}
}

func TestRepeats(t *testing.T) {
	f, err := Parse(strings.NewReader(
		"channels: [{name: a, kind: alertmanager, target: \"http://a\", owner: x}, {name: s, kind: slack, " +
			"secret_env: S}, {name: b, kind: alertmanager, target: \"http://b\"}]"))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_800_000_000, 0)
	open := []Message{{ID: "1", Event: Found, Labels: map[string]string{"owner": "x"}}, {ID: "2", Event: Found},
		{ID: "3", Event: Resolved}}
	got := f.Repeats(open, nil, now)
	if len(got) != 2 || len(got[0].Due) != 1 || len(got[1].Due) != 2 {
		t.Errorf("got %+v", got)
	}
	if got := f.Repeats(open, map[string]time.Time{"a": now.Add(-59 * time.Second), "b": now.Add(-time.Minute)},
		now); len(got) != 1 || got[0].Channel.Name != "b" {
		t.Errorf("got %+v", got)
	}
}
