package api

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode/columns"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/test/fixture"
	"github.com/fieldtrie/fieldtrie/trie"
)

// frameOf returns the frame with an index in a tree.
func (t *Tree) frameOf(i int) trie.Frame {
	f := t.Frames
	return trie.Frame{Name: t.Strings[f.Name[i]], Resource: t.Strings[f.Resource[i]], Line: f.Line[i],
		Column: f.Column[i]}
}

// stacks returns the self time of each stack on one side of a tree.
func (t *Tree) stacks(self []int64) map[string]int64 {
	out := map[string]int64{}
	var stack []trie.Frame
	for i, level := range t.Level {
		stack = append(stack[:level], t.frameOf(t.Label[i]))
		if self[i] != 0 {
			out[fmt.Sprint(stack)] += self[i]
		}
	}
	return out
}

func get[T any](t *testing.T, h http.Handler, target string) (out T) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%s: status %d, %v: %.300s", target, w.Code, err, w.Body)
	}
	return out
}

// A tree has the stacks of the profile on both sides, and pruning does not change the totals.
func TestTree(t *testing.T) {
	f := fixture.New(t)
	h := Handler(localOf(f), Options{Now: fixture.Now})
	all, err := localOf(f).Profile(t.Context(), selection.Selection{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	one, err := localOf(f).Profile(t.Context(), selection.Selection{Page: "/a"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	allSite, own := output.WithoutOwn(all.Profile)
	oneSite, baseOwn := output.WithoutOwn(one.Profile)
	whole := get[Tree](t, h, "/api/v1/tree?compare_page=/a&max_nodes=200000")
	if got, want := whole.stacks(whole.Self), fixture.StacksOf(allSite); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %d stacks, want %d", len(got), len(want))
	}
	if got, want := whole.stacks(whole.Base.Self), fixture.StacksOf(oneSite); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the other side: got %d stacks, want %d", len(got), len(want))
	}
	if own == 0 || whole.Own != own || whole.Base.Own != baseOwn {
		t.Errorf("the profiling script has %d and %d µs, want %d and %d", whole.Own, whole.Base.Own, own, baseOwn)
	}
	if whole.Pruned != (columns.Pruned{}) || whole.Views != all.Profile.Views || whole.Base.Views != one.Profile.Views {
		t.Errorf("pruned %+v; %d and %d views", whole.Pruned, whole.Views, whole.Base.Views)
	}
	for _, n := range []int{1, 10, 300} {
		pruned := get[Tree](t, h, fmt.Sprintf("/api/v1/tree?compare_page=/a&max_nodes=%d", n))
		if pruned.Total != whole.Total || pruned.Base.Total != whole.Base.Total {
			t.Errorf("%d nodes: totals %d and %d, want %d and %d", n, pruned.Total, pruned.Base.Total, whole.Total,
				whole.Base.Total)
		}
		others := 0
		for i := range pruned.Label {
			if pruned.frameOf(pruned.Label[i]).Name == trie.FrameOther {
				others++
			}
		}
		if others == 0 || pruned.Pruned.Nodes+len(pruned.Label)-others != len(whole.Label) || pruned.Pruned.Self == 0 {
			t.Errorf("%d nodes: %d are left, %d of them (other), %+v of %d", n, len(pruned.Label), others,
				pruned.Pruned, len(whole.Label))
		}
	}
}

// The tree that starts at the parent of an (other) node shows the nodes that were pruned there.
func TestTreeRoot(t *testing.T) {
	f := fixture.New(t)
	h := Handler(localOf(f), Options{Now: fixture.Now})
	whole := get[Tree](t, h, "/api/v1/tree?max_nodes=200000")
	pruned := get[Tree](t, h, "/api/v1/tree?max_nodes=40")
	var stack []trie.Frame
	opened := 0
	for i, level := range pruned.Level {
		stack = append(stack[:level], pruned.frameOf(pruned.Label[i]))
		if stack[level].Name != trie.FrameOther || level == 0 {
			continue
		}
		opened++
		v := url.Values{"root": {columns.Key(stack[:level]...)}, "max_nodes": {"200000"}}
		below := get[Tree](t, h, "/api/v1/tree?"+v.Encode())
		if len(below.Root) != level-1 || below.frameOf(below.Label[0]) != stack[level-1] ||
			slices.Contains(below.Strings, trie.FrameOther) {
			t.Fatalf("%v: the tree begins with %v after %d frames", stack, below.frameOf(below.Label[0]),
				len(below.Root))
		}
		prefix := strings.TrimSuffix(fmt.Sprint(stack[:level]), "]")
		var want int64
		for stack, self := range whole.stacks(whole.Self) {
			if strings.HasPrefix(stack, prefix) {
				want += self
			}
		}
		if below.Total != want {
			t.Errorf("%v: %d µs, want %d", stack, below.Total, want)
		}
	}
	if opened == 0 {
		t.Error("there is no (other) node")
	}
	if all := get[Tree](t, h, "/api/v1/tree?root="+columns.Key()); all.Total != whole.Total || len(all.Root) > 0 {
		t.Errorf("from the root: %d µs of %d", all.Total, whole.Total)
	}
}

// Nodes are in preorder, and siblings in descending order of time.
func TestTreeOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	p := trie.NewProfile()
	for range 200 {
		var stack []trie.Frame
		for range 1 + r.IntN(5) {
			stack = append(stack, trie.Frame{Name: fmt.Sprint(r.IntN(4))})
		}
		p.Add(nil, p.Insert(stack...), trie.Weight{Self: r.Int64N(100)})
	}
	tree, err := treeOf(query.Result{Profile: p}, query.Result{}, "", 50)
	if err != nil {
		t.Fatal(err)
	}
	total := slices.Clone(tree.Self)
	last := map[int]int{} // the previous sibling by level
	for i := len(tree.Level) - 1; i >= 0; i-- {
		for j := i + 1; j < len(tree.Level) && tree.Level[j] > tree.Level[i]; j++ {
			total[i] += tree.Self[j]
		}
	}
	for i, level := range tree.Level {
		if i > 0 && level > tree.Level[i-1]+1 {
			t.Fatalf("node %d is on level %d after %d", i, level, tree.Level[i-1])
		}
		for l := range last {
			if l > level {
				delete(last, l)
			}
		}
		if before, ok := last[level]; ok && total[before] < total[i] {
			t.Errorf("node %d with %d µs comes after one with %d", i, total[i], total[before])
		}
		last[level] = i
	}
}
