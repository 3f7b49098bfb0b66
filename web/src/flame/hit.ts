// Finds the node at a position of a flame graph, and the neighbours of a node.

import type { Tree } from '../tree/tree.ts';
import type { Layout } from './layout.ts';

/** Returns the index of the first node in a level that ends right of x. */
export function firstAfter({ levels, start, width }: Layout, level: number, x: number): number {
  const nodes = levels[level]!;
  let low = 0;
  let high = nodes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const node = nodes[middle]!;
    if (start[node]! + width[node]! <= x) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the node at a position, -1 if there is none. */
export function nodeAt(layout: Layout, level: number, x: number): number {
  const nodes = layout.levels[level];
  if (!nodes) return -1;
  const node = nodes[firstAfter(layout, level, x)];
  return node != undefined && layout.start[node]! <= x ? node : -1;
}

/** A direction from a node: its caller, its widest callee, or a neighbour. */
export type Direction = 'caller' | 'callee' | 'left' | 'right';

/** Returns the node in a direction from another one, or the node itself if there is none. */
export function neighbour(tree: Tree, layout: Layout, node: number, direction: Direction): number {
  if (direction == 'caller') return Math.max(0, tree.parent[node]!);
  if (direction == 'callee') return widestCallee(tree, layout, node);
  const nodes = layout.levels[tree.level[node]!]!;
  const step = direction == 'left' ? -1 : 1;
  for (let at = placeIn(nodes, node) + step; at >= 0 && at < nodes.length; at += step) {
    if (layout.width[nodes[at]!]! > 0) return nodes[at]!;
  }
  return node;
}

function widestCallee(tree: Tree, { width }: Layout, node: number): number {
  let best = node;
  for (let callee = node + 1; callee < tree.end[node]!; callee = tree.end[callee]!) {
    if (width[callee]! > (best == node ? 0 : width[best]!)) best = callee;
  }
  return best;
}

/** Returns the index of a node in a sorted list. */
function placeIn(nodes: Uint32Array, node: number): number {
  let low = 0;
  let high = nodes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (nodes[middle]! < node) low = middle + 1;
    else high = middle;
  }
  return low;
}
