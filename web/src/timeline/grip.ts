// Drags on the strip above a page view.

import type { Range } from '../flame/range.ts';

/** The effect of a drag: move the window or one of its edges, or select a new window. */
export type Grip = 'window' | 'from' | 'to' | 'new';

/** A drag: its effect, the time at which it started, and the visible range then. Times are µs. */
export interface Drag {
  grip: Grip;
  at: number;
  range: Range;
}

/** Returns the effect of a drag that starts at a time. near is the width of an edge. */
export function gripOf({ from, to }: Range, at: number, near: number, all: number): Grip {
  if (Math.abs(at - from) <= near && from > 0) return 'from';
  if (Math.abs(at - to) <= near && to < all) return 'to';
  return at > from && at < to && (from > 0 || to < all) ? 'window' : 'new';
}

/** Returns the range after a drag to a time. */
export function dragged({ grip, at, range }: Drag, now: number, all: number): Range {
  const least = all / 2000;
  const between = (a: number, b: number) => {
    const from = Math.min(a, b, all - least);
    return { from, to: Math.max(a, b, from + least) };
  };
  if (grip == 'from') return between(now, range.to);
  if (grip == 'to') return between(range.from, now);
  if (grip == 'new') return Math.abs(now - at) < least * 4 ? range : between(at, now);
  const width = range.to - range.from;
  const from = Math.max(0, Math.min(all - width, range.from + now - at));
  return { from, to: from + width };
}
