package view

import (
	"bufio"
	_ "embed"
	"encoding/xml"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/scripturl"
)

//go:embed svg.css
var svgStyle string

//go:embed svg.js
var svgScript string

// Dimensions of the chart, in CSS pixels.
const (
	svgRow      = 18   // height of a frame
	svgWidth    = 1200 // the width for which names are truncated; the script adapts them
	svgColumn   = 7.23 // width of a letter
	svgNarrow   = 0.3  // at svgWidth: narrower frames are not drawn
	svgNameFrom = 24   // at svgWidth: narrower frames show no name until they are zoomed
	// svgFrames bounds the drawn frames, the widest first. A frame takes about 250
	// bytes.
	svgFrames = 10_000
	// svgNameBytes bounds a name or URL in the file.
	svgNameBytes = 200
	svgHues      = 12 // classes of colours in svgColours
	svgShades    = 3
	svgSteps     = 6 // of red and of blue
)

// EncodeSVG writes p as a flame graph in one self-contained SVG file: the root is on
// top, and the width of a frame is its total. In a browser, a script adds search, zoom
// by click or key, and names fitted to the window; it loads nothing. A function has the
// same colour in every file, and functions of one package or script have similar
// colours. Groups are summed, self times below zero left out.
//
// Frames narrower than 0.3 of 1200 pixels are not drawn, and of the others only the 10,000 widest.
// The head of the chart states how much is missing.
//
// With o.Base, red frames have more self time than in the base and blue ones less.
// Functions only in the base have no width; the head gives their time.
func EncodeSVG(w io.Writer, p *trie.Profile, o output.Options) error {
	p = p.Canonical()
	s := svgChart{w: bufio.NewWriterSize(w, 1<<16), t: output.Weigh(p, o)}
	s.self, s.total = s.t.Drawable()
	s.choose()
	s.colours()
	head := s.head(p, o)
	const line, gap, tools = 18, 12, 34
	top := gap + line*len(head) + gap + tools + line + 6
	fmt.Fprintf(s.w, `<svg xmlns="http://www.w3.org/2000/svg" width="100%%" height="%d">`+"\n<style>\n%s%s</style>\n",
		top+(s.deepest+1)*svgRow+gap, svgStyle, svgColours(o.Base != nil))
	s.w.WriteString("<g class=\"head\">\n")
	for i, h := range head {
		y := gap + line*i + 14
		x := 10
		if h.swatch != "" {
			fmt.Fprintf(s.w, `<rect class="%s" x="10" y="%d" width="12" height="12" rx="2"/>`, h.swatch, y-10)
			x = 28
		}
		fmt.Fprintf(s.w, `<text class="%s" x="%d" y="%d">%s</text>`+"\n", h.class, x, y, xmlText(h.text))
	}
	fmt.Fprintf(s.w, `<text id="detail" class="soft" x="10" y="%d"> </text>`+"\n</g>\n", top-10)
	fmt.Fprintf(s.w, `<foreignObject x="0" y="%d" width="100%%" height="%d"><div `+
		`xmlns="http://www.w3.org/1999/xhtml" class="tools">`+
		`<input id="search" type="search" placeholder="Search" aria-label="Search functions" title="Ctrl+F"/>`+
		`<button id="reset" type="button" title="Escape">Reset</button><output id="result"></output></div>`+
		`</foreignObject>`+"\n",
		gap+line*len(head)+4, tools)
	s.frame(trie.Root, top, 0, o.RootName(), "")
	s.draw(top)
	fmt.Fprintf(s.w, "<script><![CDATA[\n%s]]></script>\n</svg>\n", svgScript)
	return s.w.Flush()
}

// svgChart draws one chart.
type svgChart struct {
	w           *bufio.Writer
	t           output.Weighted
	self, total []int64  // µs, by node
	shown       []bool   // by node
	classes     []string // the colours, by FrameID
	mostDelta   int64    // µs, of all nodes
	deepest     int      // of the nodes that are drawn
	hidden      int      // nodes that are not drawn
	narrow      int64    // µs, the totals of the topmost of them
}

// choose selects the drawn nodes: those that are wide enough. A node is never wider than
// its caller, so the callers of a drawn node are drawn.
func (s *svgChart) choose() {
	least := max(int64(math.Ceil(float64(s.total[trie.Root])*svgNarrow/svgWidth)), 1)
	drawn := output.Weighted{Trie: s.t.Trie, Total: make([]trie.Weight, len(s.total))}
	for n, v := range s.total {
		drawn.Total[n].Self = v
	}
	s.shown = drawn.Heaviest(svgFrames, least)
	for n, depth := range s.t.Preorder() {
		parent := s.t.Nodes[n].Parent
		switch {
		case s.shown[n]:
			s.deepest = max(s.deepest, depth)
		case s.total[n] > 0:
			s.hidden++
			if s.shown[parent] {
				s.narrow += s.total[n]
			}
		}
		s.mostDelta = max(s.mostDelta, output.Size(s.t.Delta(n)))
	}
}

// svgLine is a line of text above the chart.
type svgLine struct{ class, swatch, text string }

// head returns the lines above the chart. They are short: a phone has room for fifty letters.
func (s *svgChart) head(p *trie.Profile, o output.Options) []svgLine {
	title := o.Title
	if title == "" {
		title = "Flame graph"
	}
	_, c := p.Flat()
	lines := []svgLine{{"title", "", title}}
	if shown := o.Threads.Shown(); len(shown) > 0 && c.Views == 0 {
		sum := shown.Sum()
		lines = append(lines, svgLine{"", "", sum.Took()}, svgLine{"soft", "", shown.Title()})
	} else {
		about := millis(s.total[trie.Root]) + " ms of " + o.Subject()
		if of := output.MadeOf(c); of != "" {
			about += " · " + strings.ReplaceAll(of, ", ", " · ")
		}
		lines = append(lines, svgLine{"", "", about})
	}
	if !o.Since.IsZero() && !o.Until.IsZero() {
		const minute = "2006-01-02 15:04"
		lines = append(lines, svgLine{"soft", "", fmt.Sprintf("%s to %s UTC", o.Since.UTC().Format(minute),
			o.Until.UTC().Format(minute))})
	}
	if s.hidden > 0 {
		lines = append(lines, svgLine{"soft", "", fmt.Sprintf("%s too narrow to draw: %s of the time",
			counted(int64(s.hidden), "frame"), percent(s.narrow, s.total[trie.Root]))})
	}
	if o.Base != nil {
		lines = append(lines, s.legend(o)...)
	}
	return lines
}

// legend explains the colours of a comparison, with the sum of each.
func (s *svgChart) legend(o output.Options) []svgLine {
	var more, less, gone int64
	for n := range s.t.Nodes {
		switch d := s.t.Delta(trie.NodeID(n)); {
		case d > 0:
			more += d
		case s.total[n] == 0:
			gone += d
		default:
			less += d
		}
	}
	_, c := o.Base.Flat()
	compared := "Compared with " + millis(output.SelfSum(s.t.BaseSelf)) + " ms"
	if shown := o.BaseThreads.Shown(); len(shown) > 0 && c.Views == 0 {
		sum := shown.Sum()
		compared = "Compared with " + sum.Took() + ": " + shown.Title()
	} else if of := output.MadeOf(c); of != "" {
		compared += " in " + of
	}
	return []svgLine{
		{"soft", "", compared},
		{"", fmt.Sprintf("r%d", svgSteps), "more self time than before: " + unit{}.signed(more) + " ms"},
		{"", fmt.Sprintf("b%d", svgSteps), "less: " + unit{}.signed(less) + " ms"},
		{"soft", "", "no longer called, so not drawn: " + unit{}.signed(gone) + " ms"},
	}
}

// counted returns n things in words.
func counted(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return decimal(n) + " " + thing + "s"
}

func percent(v, all int64) string {
	switch {
	case all == 0 || v == 0:
		return "0 %"
	case float64(v) < 0.0005*float64(all):
		return "under 0.1 %"
	}
	return strconv.FormatFloat(100*float64(v)/float64(all), 'f', 1, 64) + " %"
}

// draw writes the frames in preorder, each right of the siblings before it.
func (s *svgChart) draw(top int) {
	left := []int64{0} // by depth: where the next frame begins, in µs
	for n, depth := range s.t.Preorder() {
		if s.total[n] == 0 || !s.shown[s.t.Nodes[n].Parent] {
			continue
		}
		at := left[depth-1]
		left = append(left[:depth], at)
		left[depth-1] += s.total[n]
		if s.shown[n] {
			f := s.t.Frame(n)
			s.frame(n, top+depth*svgRow, at, output.Shown(f), place(f))
		}
	}
}

// place returns where f is defined.
func place(f trie.Frame) string {
	return strings.TrimSuffix(strings.TrimPrefix(output.Location(trie.Frame{Name: "x", Resource: f.Resource,
		Line: f.Line, Column: f.Column}), "x ("), ")")
}

// frame writes one frame. It is a separate svg element, so that its name is clipped at its end
// without a script, and so that moving the frame moves all of it.
func (s *svgChart) frame(n trie.NodeID, y int, left int64, name, place string) {
	all := float64(max(s.total[trie.Root], 1))
	share := float64(s.total[n]) / all
	class, focus := "all", ` tabindex="0"`
	if n != trie.Root {
		class, focus = s.class(n), ` tabindex="-1"`
	} else {
		share = 1
	}
	name, place = cutText(name, svgNameBytes), cutText(place, svgNameBytes)
	fmt.Fprintf(s.w, `<svg class="frame %s"%s x="%s%%" y="%d" width="%s%%" height="%d"><title>%s`+"\n%s\n"+
		`%s ms (%s), self %s ms`,
		class, focus, svgShare(float64(left)/all), y, svgShare(share), svgRow, xmlText(name), xmlText(place),
		millis(s.total[n]), percent(s.total[n], s.total[trie.Root]), millis(s.self[n]))
	if s.t.BaseSelf != nil {
		fmt.Fprintf(s.w, ", before %s ms", millis(s.t.BaseSelf[n].Self))
	}
	fmt.Fprintf(s.w, `</title><rect width="100%%" height="%d"/>`, svgRow)
	if width := share * svgWidth; width >= svgNameFrom {
		fmt.Fprintf(s.w, `<text x="4" y="13">%s</text>`, xmlText(cutName(name, int((width-6)/svgColumn))))
	}
	s.w.WriteString("</svg>\n")
}

// svgShare returns a share as a percentage that is exact to a tenth of a pixel however
// far the chart is zoomed in.
func svgShare(v float64) string {
	text := strconv.FormatFloat(100*v, 'f', 5, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// cutText returns s, or its first most bytes at most and an ellipsis. It does not split characters.
func cutText(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}

// cutName returns the part of a name that fits into columns letters.
func cutName(s string, columns int) string {
	if utf8.RuneCountInString(s) <= columns {
		return s
	}
	return string([]rune(s)[:max(columns-1, 0)]) + "…"
}

// xmlText returns s as printable text of an XML document, which allows no control characters.
func xmlText(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(output.Printable(s))) // a strings.Builder takes everything
	return b.String()
}

// colours chooses the class of each frame: a hue for the package or script, a shade for
// the function. So a function looks the same in every chart.
func (s *svgChart) colours() {
	s.classes = make([]string, len(s.t.Frames))
	for i := range s.classes {
		f := s.t.FrameOf(trie.FrameID(i))
		family := scripturl.Package(f.Resource)
		if family == "" {
			family = f.Resource
		}
		s.classes[i] = "none"
		if family != "" {
			s.classes[i] = fmt.Sprintf("c%d-%d", hash(family)%svgHues, hash(f.Name)%svgShades)
		}
	}
}

func hash(s string) uint32 {
	h := fnv.New32a()
	io.WriteString(h, s)
	return h.Sum32()
}

// class returns the colour of node n.
func (s *svgChart) class(n trie.NodeID) string {
	if s.t.BaseSelf == nil {
		return s.classes[s.t.Nodes[n].Frame]
	}
	d := s.t.Delta(n)
	if d == 0 {
		return "same"
	}
	// The square root makes small changes visible next to a large one.
	step := max(1, int(math.Ceil(svgSteps*math.Sqrt(float64(output.Size(d))/float64(s.mostDelta)))))
	if d > 0 {
		return fmt.Sprintf("r%d", step)
	}
	return fmt.Sprintf("b%d", step)
}

// svgColours returns the style of the classes, for light and dark pages.
func svgColours(compare bool) string {
	var light, dark strings.Builder
	add := func(class string, hue, saturation, lightness, darkSaturation, darkLightness int) {
		fmt.Fprintf(&light, ".%s{fill:hsl(%d %d%% %d%%)}\n", class, hue, saturation, lightness)
		if hue < 60 {
			hue = hue * 3 / 4 // dark yellow is green
		}
		fmt.Fprintf(&dark, ".%s{fill:hsl(%d %d%% %d%%)}\n", class, hue, darkSaturation, darkLightness)
	}
	add("all", 40, 12, 88, 6, 24)
	add("none", 40, 22, 80, 8, 34)
	if compare {
		add("same", 40, 10, 91, 6, 26)
		for i := 1; i <= svgSteps; i++ {
			add(fmt.Sprintf("r%d", i), 8, 90, 94-i*5, 45+i*4, 23+i*4)
			add(fmt.Sprintf("b%d", i), 214, 90, 94-i*5, 45+i*4, 23+i*4)
		}
	} else {
		for hue := range svgHues {
			for shade := range svgShades {
				add(fmt.Sprintf("c%d-%d", hue, shade), 4+hue*42/(svgHues-1), 88, 68+shade*5, 55, 27+shade*3)
			}
		}
	}
	return light.String() + "@media (prefers-color-scheme: dark) {\n" + dark.String() + "}\n"
}
