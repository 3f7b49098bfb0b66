// Which two releases are compared when nobody chose.

import type { Series } from '../../api/types.ts';

/** How much of the time that is selected counts as its end, in ms, if there are page views in it. */
const recently = 6 * 3600e3;

interface Traffic {
  name: string;
  views: number;
  recent: number;
  /** The mean time of its page views, in ms since 1970. */
  mean: number;
}

/** Returns what came of each release, from a series by release that ends at a time. */
function trafficOf(series: Series, to: number): Traffic[] {
  const all: Traffic[] = [];
  for (const { labels, points } of series.groups) {
    const one = { name: labels.release ?? '', views: 0, recent: 0, mean: 0 };
    for (const { time, views } of points) {
      if (!time || !views) continue;
      const at = Date.parse(time);
      one.views += views;
      one.mean += (at - one.mean) * (views / one.views);
      if (at + series.step_seconds * 1000 > to - recently) one.recent += views;
    }
    if (one.name && one.views) all.push(one);
  }
  return all.sort((a, b) => b.recent - a.recent || b.views - a.views);
}

/**
 * Returns the two releases to compare: what is selected and what came before it, or those two that have the most page views
 * of the last hours. The newer one is that which was first seen later: seen are the releases in that order. Of others it is
 * that whose page views came later on average: a tab that was open for days does not make an old release new.
 */
export function pairOf(
  series: Series | undefined,
  selected: string,
  to: number,
  seen: readonly string[] = [],
): { before: string; after: string } | undefined {
  const all = series ? trafficOf(series, to) : [];
  // Two that both have page views in all of the time have them later by chance alone.
  const later = (a: Traffic, b: Traffic) =>
    seen.includes(a.name) && seen.includes(b.name) ? seen.indexOf(a.name) > seen.indexOf(b.name) : a.mean > b.mean;
  if (selected) {
    const after = all.find(({ name }) => name == selected);
    const before = after && all.filter((one) => one != after && later(after, one)).sort((a, b) => b.views - a.views)[0];
    return before && { before: before.name, after: selected };
  }
  const [one, two] = all;
  if (!one || !two) return undefined;
  return later(one, two) ? { before: two.name, after: one.name } : { before: one.name, after: two.name };
}
