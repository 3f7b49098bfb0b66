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
