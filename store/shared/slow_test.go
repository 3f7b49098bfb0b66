package shared

import (
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

// An import over a slow line, where each object takes minutes to send, comes to its end, and another one finds all there.
func TestImportOverSlowLine(t *testing.T) {
	a := newAged(t, 1)
	r := a.open()
	server := fakebucket.New(1)
	begin, slow := a.now, time.Duration(0)
	now := func() time.Time { return begin.Add(time.Duration(server.Requests()["PUT"]) * slow) }
	server.Now = now
	n := nodeOn(t, server.Client(), now)
	slow = 6 * time.Minute
	stats, err := n.Import(t.Context(), r, quietly)
	if err != nil {
		t.Fatal(err)
	}
	again, err := n.Import(t.Context(), r, quietly)
	if err != nil || stats.Traces == 0 || again.Traces != 0 || again.Known != again.Hours+again.Days {
		t.Errorf("imported %+v, and then %+v: %v", stats, again, err)
	}
}
