// Which part of a flame graph is on the screen, from left to right.

import type { Layout } from './layout.ts';

/** A stretch of a layout, in its unit. */
export interface Range {
  from: number;
  to: number;
}

/** Returns the range of a node. It is never empty. */
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

/** Returns a range in which another one is seen: as wide as it is, unless the other one is wider; never outside of all. */
export function showing(range: Range, seen: Range, all: number): Range {
  if (seen.to > range.from && seen.from < range.to) return range;
  const width = Math.min(all, Math.max(range.to - range.from, (seen.to - seen.from) * 1.2));
  const from = (seen.from + seen.to - width) / 2;
  return moved({ from, to: from + width }, 0, all);
}

/** Returns a range that is narrower by a factor around a place, or wider; never wider than all. */
export function scaled(range: Range, at: number, factor: number, all: number): Range {
  const before = range.to - range.from;
  const width = Math.min(all, Math.max(all / 1e7, before * factor));
  const from = at - ((at - range.from) * width) / before;
  return moved({ from, to: from + width }, 0, all);
}

/** Returns a range that is moved by a part of its width, and stays within all. */
export function moved(range: Range, part: number, all: number): Range {
  const width = range.to - range.from;
  const from = Math.max(0, Math.min(range.from + part * width, all - width));
  return { from, to: from + width };
}
