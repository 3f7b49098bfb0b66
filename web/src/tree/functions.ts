// Times of functions, over all stacks.

import type { Tree } from './tree.ts';

/**
 * The times of a function, in µs summed over all page views. Nested calls of the same function
 * count once.
 */
export interface FunctionSum {
  /** Index into the frames of the tree. */
  frame: number;
  self: number;
  total: number;
  /** Self time on the other side, 0 if there is none. */
  baseSelf: number;
  baseTotal: number;
}

/**
 * Returns the functions of a tree by self time, then total time, both descending; functions without
 * time are left out.
 */
export function functionsOf(tree: Tree): FunctionSum[] {
  const { frame, self, total, baseSelf, baseTotal } = tree;
  const sums = tree.frames.map((_, at) => ({ frame: at, self: 0, total: 0, baseSelf: 0, baseTotal: 0 }));
  const outermost = outermostOf(tree);
  for (let node = 1; node < frame.length; node++) {
    const sum = sums[frame[node]!]!;
    sum.self += self[node]!;
    sum.baseSelf += baseSelf?.[node] ?? 0;
    if (!outermost[node]) continue;
    sum.total += total[node]!;
    sum.baseTotal += baseTotal?.[node] ?? 0;
  }
  const used = sums.filter((sum) => sum.total != 0 || sum.baseTotal != 0);
  return used.sort((a, b) => b.self - a.self || b.total - a.total || a.frame - b.frame);
}

/** Returns for each node whether no caller is the same function. Node 0 is not a call. */
export function outermostOf(tree: Tree): Uint8Array {
  const { frame, level } = tree;
  const open = new Uint16Array(tree.frames.length); // number of a frame's calls on the stack
  const path = new Int32Array(level.length ? level.reduce((a, b) => Math.max(a, b)) + 2 : 1);
  const outermost = new Uint8Array(frame.length);
  let depth = 0; // depth of the stack
  for (let node = 1; node < frame.length; node++) {
    for (; depth >= level[node]!; depth--) open[path[depth]!]!--;
    const at = frame[node]!;
    if (open[at] == 0) outermost[node] = 1;
    open[at]!++;
    depth = level[node]!;
    path[depth] = at;
  }
  return outermost;
}
