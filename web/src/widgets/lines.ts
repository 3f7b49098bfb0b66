// The lines of a chart over time, from the points of a series.

import type { BrowserVersions, Catalog, Point } from '../api/types.ts';
import type { Sample } from './Sparkline.tsx';

/** The lines that a chart can show. */
export type LineName = 'p50' | 'p75' | 'p95' | 'mean' | 'long tasks p75';

/** All lines, in the order of their switches. */
export const lineNames: readonly LineName[] = ['p50', 'p75', 'p95', 'mean', 'long tasks p75'];

/** Returns the value of a line at a point, in ms; undefined if it is unknown. */
export function valueAt(point: Point, line: LineName): number | undefined {
  if (!point.views) return undefined;
  if (line == 'mean') return point.mean_ms;
  if (line == 'long tasks p75') return point.long_tasks?.p75.value;
  return point.spread?.[line].value;
}

/** Returns a line of points, without points that have no time. */
export function lineOf(points: readonly Point[], line: LineName): Sample[] {
  return points.flatMap((point) => (point.time ? [{ time: Date.parse(point.time), value: valueAt(point, line) }] : []));
}

/** The time at which a release was first seen, or a browser version reached half of its browser. */
export interface Marker {
  time: number;
  name: string;
  /** The name is at the bottom of the chart, as for browser versions. */
  below?: boolean;
}

/** Returns releases in the order in which they were first seen, on one page if it is given. */
export function releasesOf(catalog: Catalog | undefined, page = ''): Marker[] {
  const first = new Map<string, number>();
  for (const entry of catalog?.entries ?? []) {
    if (entry.kind != 'release' || !entry.name || (page && entry.page != page)) continue;
    const time = Date.parse(entry.first);
    first.set(entry.name, Math.min(first.get(entry.name) ?? Infinity, time));
  }
  return [...first].map(([name, time]) => ({ name, time })).sort((a, b) => a.time - b.time);
}

/** Returns the browser versions that reached half of the page views of their browser. */
export function versionsOf(versions: BrowserVersions | undefined): Marker[] {
  const all = versions?.families.flatMap((family) => family.versions) ?? [];
  return all
    .flatMap(({ browser, half_since: since }) =>
      since ? [{ name: browser, time: Date.parse(since), below: true }] : [],
    )
    .sort((a, b) => a.time - b.time);
}
