// The horizontally visible part of a flame graph.

import type { Layout } from './layout.ts';

/** A part of a layout, in its unit. */
export interface Range {
  from: number;
  to: number;
}

/** Returns the range of a node, which is never empty. */
export function rangeOf({ start, width }: Layout, node: number): Range {
  const from = start[node] ?? 0;
  return { from, to: from + Math.max(width[node] ?? 0, 1e-9) };
}

/** Returns the middle of a visible node, else the middle of the range. */
export function middleOf(range: Range, layout: Layout, node: number): number {
  const { from, to } = rangeOf(layout, node);
  const middle = (Math.max(from, range.from) + Math.min(to, range.to)) / 2;
  return to > range.from && from < range.to ? middle : (range.from + range.to) / 2;
}

/**
 * Returns a range that overlaps another one: the range itself if it does, else one around the
 * other, at least 1.2 times as wide as it. The result stays within 0 and all.
 */
export function showing(range: Range, seen: Range, all: number): Range {
  if (seen.to > range.from && seen.from < range.to) return range;
  const width = Math.min(all, Math.max(range.to - range.from, (seen.to - seen.from) * 1.2));
  const from = (seen.from + seen.to - width) / 2;
  return moved({ from, to: from + width }, 0, all);
}

/** Returns a range that is scaled by a factor around a position, but at most as wide as all. */
export function scaled(range: Range, at: number, factor: number, all: number): Range {
  const before = range.to - range.from;
  const width = Math.min(all, Math.max(all / 1e7, before * factor));
  const from = at - ((at - range.from) * width) / before;
  return moved({ from, to: from + width }, 0, all);
}

/** Moves a range by a part of its width, within 0 and all. */
export function moved(range: Range, part: number, all: number): Range {
  const width = range.to - range.from;
  const from = Math.max(0, Math.min(range.from + part * width, all - width));
  return { from, to: from + width };
}
