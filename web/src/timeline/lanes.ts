// What was at work beside the calls: routes, features, phases and other labels, long tasks, each kind in a lane of its own.

import type { Stretch } from '../api/types.ts';

/** A bar of a lane: something that lasted from one time to another, in µs. Those of one row do not overlap. */
export interface Bar {
  name: string;
  start: number;
  end: number;
  row: number;
}

/** Bars of one kind, by their start. */
export interface Lane {
  /** 'route', 'feature', 'task', or the key of a label behind 'label '. */
  key: string;
  title: string;
  bars: Bar[];
  rows: number;
  /** How many more bars there are, which are shorter than those. */
  more: number;
}

/** What lanes are made of, as /api/v1/view answers it. */
export interface Spans {
  page: string;
  end_us: number;
  spans: (Stretch & { kind: 'page' | 'feature' | 'label'; name: string })[];
  long_tasks: Stretch[];
}

/** A lane has so many bars and rows at most, and there are so many lanes of labels. */
const mostBars = 300;
const mostRows = 5;
const mostLabels = 8;

/** Labels whose lanes are first. */
const first = ['phase', 'visibility'];

type Named = Omit<Bar, 'row'>;

/** Returns the lanes of a page view, from the top. Times are cut at its end. */
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

/** Returns the pages that were shown: that on which the view began, where no span says another. The last that began holds. */
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

/** Puts each bar into the first row where it overlaps no other; those without one are left out. */
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
