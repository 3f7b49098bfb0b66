// Lanes next to the calls: routes, features, phases and other labels, and long tasks, each kind in
// its own lane.

import type { Stretch } from '../api/types.ts';
import type { Range } from '../flame/range.ts';

/** A bar of a lane, with its start and end in µs. Bars in a row do not overlap. */
export interface Bar {
  name: string;
  start: number;
  end: number;
  row: number;
}

/** Bars of one kind, by start. */
export interface Lane {
  /** 'route', 'feature', 'task', or the key of a label after 'label '. */
  key: string;
  title: string;
  bars: Bar[];
  rows: number;
  /** Number of omitted bars, which are shorter than the others. */
  more: number;
}

/** The part of a response of /api/v1/view from which lanes are made. */
export interface Spans {
  page: string;
  end_us: number;
  spans: (Stretch & { kind: 'page' | 'feature' | 'label'; name: string })[];
  long_tasks: Stretch[];
}

/** Maximum numbers of bars and rows in a lane, and of lanes for labels. */
const mostBars = 300;
const mostRows = 5;
const mostLabels = 8;

/** Labels whose lanes are first. */
const first = ['phase', 'visibility'];

type Named = Omit<Bar, 'row'>;

/** Returns the lanes of a page view, from the top. Times end with the page view. */
export function lanesOf(view: Spans): Lane[] {
  const cut = view.spans
    .filter((span) => span.start_us < view.end_us && span.end_us > span.start_us)
    .map(({ kind, name, start_us, end_us }) => ({ kind, name, start: start_us, end: Math.min(end_us, view.end_us) }));
  const of = (kind: string) => cut.filter((span) => span.kind == kind);
  const labels = new Map<string, Named[]>();
  for (const { name, start, end } of of('label')) {
    const at = name.indexOf('=');
    const key = at < 0 ? name : name.slice(0, at);
    if (!labels.has(key)) labels.set(key, []);
    labels.get(key)!.push({ name: name.slice(at + 1), start, end });
  }
  const rank = (key: string) => (first.includes(key) ? first.indexOf(key) : first.length);
  const keys = [...labels.keys()].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1)).slice(0, mostLabels);
  const tasks = view.long_tasks.map(({ start_us, end_us }) => ({ name: '', start: start_us, end: end_us }));
  return [
    laneOf('route', 'Routes', routesOf(view.page, of('page'), view.end_us)),
    laneOf('feature', 'Features', of('feature')),
    ...keys.map((key) => laneOf(`label ${key}`, key == 'phase' ? 'Phases' : key, labels.get(key)!)),
    laneOf('task', 'Long tasks', tasks),
  ].filter((lane) => lane.bars.length > 0);
}

/**
 * Returns the shown pages: the page of the last span that started, or the first page if there is
 * none.
 */
function routesOf(page: string, spans: Named[], end: number): Named[] {
  const bounds = [...new Set([0, end, ...spans.flatMap((span) => [span.start, span.end])])].sort((a, b) => a - b);
  const routes: Named[] = [];
  for (const [i, start] of bounds.slice(0, -1).entries()) {
    const name = spans.findLast((span) => span.start <= start && span.end > start)?.name ?? page;
    const last = routes.at(-1);
    if (last?.name == name) last.end = bounds[i + 1]!;
    else routes.push({ name, start, end: bounds[i + 1]! });
  }
  return routes;
}

function laneOf(key: string, title: string, all: Named[]): Lane {
  const longest = [...all].sort((a, b) => b.end - b.start - (a.end - a.start)).slice(0, mostBars);
  const bars = packed(longest);
  return { key, title, bars, rows: Math.max(0, ...bars.map(({ row }) => row + 1)), more: all.length - bars.length };
}

/**
 * Puts each bar into the first row in which it overlaps no other bar, and omits bars that fit in no
 * row.
 */
function packed(bars: Named[]): Bar[] {
  const ends: number[] = [];
  return [...bars]
    .sort((a, b) => a.start - b.start || b.end - a.end)
    .flatMap((bar) => {
      const free = ends.findIndex((end) => end <= bar.start);
      const row = free < 0 ? ends.length : free;
      if (row == mostRows) return [];
      ends[row] = bar.end;
      return [{ ...bar, row }];
    });
}

/**
 * The drawing of a bar, or of several adjacent bars that are too narrow to be distinguished.
 * Lengths are CSS pixels.
 */
export interface Mark {
  bar: Bar;
  /** Number of bars in the mark, and the end of the last one. */
  bars: number;
  end: number;
  left: number;
  width: number;
}

/**
 * In CSS pixels: adjacent bars narrower than narrow are merged into one mark if the space between
 * them is less than gap.
 */
const narrow = 5;
const gap = 3;

/** Bars are cut at this distance outside the picture, so that their edges are invisible. */
const outside = 4;

/**
 * Returns the visible marks of bars sorted by start, for a width in pixels. Their number is
 * proportional to the width.
 */
export function marksOf(bars: readonly Bar[], { from, to }: Range, width: number): Mark[] {
  const scale = width / (to - from);
  const last: (Mark | undefined)[] = []; // by row: the last mark, if its bars are narrow
  const marks: Mark[] = [];
  for (const bar of bars) {
    if (bar.end <= from || bar.start >= to) continue;
    const left = Math.max(-outside, (bar.start - from) * scale);
    const right = Math.min(width + outside, (bar.end - from) * scale);
    const before = last[bar.row];
    if (right - left >= narrow) {
      marks.push({ bar, bars: 1, end: bar.end, left, width: right - left });
      last[bar.row] = undefined;
    } else if (before && left - before.left - before.width < gap) {
      before.bars++;
      before.end = bar.end;
      before.width = Math.max(before.width, right - before.left);
    } else {
      last[bar.row] = { bar, bars: 1, end: bar.end, left, width: Math.max(2, right - left) };
      marks.push(last[bar.row]!);
    }
  }
  return marks;
}
