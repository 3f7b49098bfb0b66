// A page view laid out in chronological order.

import { levelsOf, type Layout } from '../flame/layout.ts';
import { framesOf, nestedOf, sumUp, type FrameColumns, type Tree } from '../tree/tree.ts';

/**
 * Calls in columns, as in a response of /api/v1/view: sorted by start, callers first, times in µs.
 */
export interface Calls {
  strings: string[];
  frames: FrameColumns;
  calls: { frame: number[]; level: number[]; start_us: number[]; end_us: number[] };
  /** When the last call ends. */
  end_us: number;
}

/**
 * Calls as a tree whose nodes are in chronological order: each node is one call, and two calls of
 * one function are two nodes. The layout is in µs since the page's time origin. The root lasts from
 * the time origin to the end, and its total is the time of all calls.
 */
export interface Timeline {
  tree: Tree;
  layout: Layout;
}

/** Returns the calls of a response as a tree and its layout. */
export function timelineOf({ strings, frames, calls, end_us }: Calls): Timeline {
  const tree = nestedOf(framesOf(strings, frames), calls.frame, calls.level);
  const n = tree.frame.length;
  const start = new Float64Array(n);
  const width = new Float64Array(n);
  width[0] = Math.max(end_us, 1);
  for (let node = 1; node < n; node++) {
    start[node] = calls.start_us[node - 1] ?? 0;
    width[node] = Math.max(0, (calls.end_us[node - 1] ?? 0) - start[node]!);
    tree.self[node]! += width[node]!;
    const parent = tree.parent[node]!;
    if (parent > 0) tree.self[parent]! -= width[node]!;
  }
  sumUp(tree);
  return { tree, layout: { levels: levelsOf(tree.level), start, width } };
}

/** Returns the outermost call with exactly this start and end, 0 if there is none. */
export function nodeFrom({ layout: { levels, start, width } }: Timeline, from: number, to: number): number {
  for (const nodes of levels) {
    let low = 0;
    let high = nodes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (start[nodes[middle]!]! < from) low = middle + 1;
      else high = middle;
    }
    const node = nodes[low];
    if (node && start[node] == from && from + width[node]! == to) return node;
  }
  return 0;
}

/**
 * Divides the time between the first call and the end into equal parts, and returns the share of
 * each that has a stack, from 0 to 1.
 */
export function busyOf({ tree, layout }: Timeline, parts: number): Float64Array {
  const busy = new Float64Array(parts);
  const scale = parts / layout.width[0]!;
  for (let node = 1; node < tree.end[0]!; node = tree.end[node]!) {
    const from = layout.start[node]! * scale;
    const to = Math.min(parts, from + layout.width[node]! * scale);
    for (let at = Math.floor(from); at < to; at++) busy[at]! += Math.min(to, at + 1) - Math.max(from, at);
  }
  return busy;
}
