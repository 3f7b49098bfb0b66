// Where each node of a tree lies in a flame graph.

import type { Tree } from '../tree/tree.ts';

/** The places of nodes. Widths are the totals of the tree. */
export interface Layout {
  /** By level: its nodes from left to right. Level 0 is the root. */
  levels: Uint32Array[];
  /** By node: where it begins, in µs from the left. */
  start: Float64Array;
}

/** What is seen of a layout: a stretch of it, in µs. */
export interface Range {
  from: number;
  to: number;
}

/** Lays out a tree: callees follow each other from the left edge of their caller. */
export function layoutOf(tree: Tree): Layout {
  const n = tree.frame.length;
  const start = new Float64Array(n);
  const next = new Float64Array(n); // by node: where its next callee begins
  const counts: number[] = [];
  for (let node = 0; node < n; node++) {
    if (node > 0) {
      const parent = tree.parent[node]!;
      start[node] = next[parent]!;
      next[parent]! += tree.total[node]!;
    }
    next[node] = start[node]!;
    const level = tree.level[node]!;
    counts[level] = (counts[level] ?? 0) + 1;
  }
  const levels = counts.map((count) => new Uint32Array(count));
  const filled = counts.map(() => 0);
  for (let node = 0; node < n; node++) {
    const level = tree.level[node]!;
    levels[level]![filled[level]!++] = node;
  }
  return { levels, start };
}

/** Returns the place in a level of the first node that ends right of x. */
export function firstAfter(tree: Tree, { levels, start }: Layout, level: number, x: number): number {
  const nodes = levels[level]!;
  let low = 0;
  let high = nodes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const node = nodes[middle]!;
    if (start[node]! + tree.total[node]! <= x) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the node at a place, 0 if there is none but the root. */
export function nodeAt(tree: Tree, layout: Layout, level: number, x: number): number {
  const nodes = layout.levels[level];
  if (!nodes) return 0;
  const node = nodes[firstAfter(tree, layout, level, x)];
  return node != undefined && layout.start[node]! <= x ? node : 0;
}
