// Positions of nodes in a flame graph.

import type { Tree } from '../tree/tree.ts';

/**
 * The side of a comparison that determines the widths of nodes: B is the tree, A is its base, and
 * max is the larger one.
 */
export type Widths = 'B' | 'A' | 'max';

/** Positions of nodes, in µs of one side, or in µs per page view for max. */
export interface Layout {
  /** By level: its nodes from left to right. Level 0 is the root. */
  levels: Uint32Array[];
  /** By node: its left edge. */
  start: Float64Array;
  /** By node: its width, which is at least the sum of its callees' widths. */
  width: Float64Array;
}

/** Lays out a tree: callees follow each other from the left edge of their caller. */
export function layoutOf(tree: Tree, widths: Widths = 'B'): Layout {
  const width = widthsOf(tree, widths);
  const n = width.length;
  const start = new Float64Array(n);
  const next = new Float64Array(n); // by node: the left edge of its next callee
  for (let node = 1; node < n; node++) {
    const parent = tree.parent[node]!;
    const at = next[parent]!;
    start[node] = at;
    next[node] = at;
    next[parent] = at + width[node]!;
  }
  return { levels: levelsOf(tree.level), start, width };
}

function widthsOf(tree: Tree, widths: Widths): Float64Array {
  const { self, total, baseSelf, baseTotal, parent, views, baseViews } = tree;
  if (!baseSelf || !baseTotal || widths == 'B') return total;
  if (widths == 'A') return baseTotal;
  const width = self.map((us, node) => Math.max(us / Math.max(1, views), baseSelf[node]! / Math.max(1, baseViews)));
  for (let node = width.length - 1; node > 0; node--) width[parent[node]!]! += width[node]!;
  return width;
}

/** Returns the nodes of each level, in their order. */
export function levelsOf(level: Uint16Array): Uint32Array[] {
  const counts: number[] = [];
  for (const at of level) counts[at] = (counts[at] ?? 0) + 1;
  const levels = Array.from(counts, (count) => new Uint32Array(count ?? 0));
  const filled = new Uint32Array(levels.length);
  for (let node = 0; node < level.length; node++) {
    const at = level[node]!;
    levels[at]![filled[at]!++] = node;
  }
  return levels;
}
