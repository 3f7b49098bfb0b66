// What each function took, over all stacks.

import type { Tree } from './tree.ts';

/** The sums of a function, in µs over all page views. Time of a call within a call of the same function counts once. */
export interface FunctionSum {
  /** Its place in the frames of the tree. */
  frame: number;
  self: number;
  total: number;
  /** The same of the other side, 0 if there is none. */
  baseSelf: number;
  baseTotal: number;
}

/** Returns the functions of a tree, that with the most self time first, then total; those without time are left out. */
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

/** Returns by node whether none of its callers is the same function. Node 0 is not a call. */
export function outermostOf(tree: Tree): Uint8Array {
  const { frame, level } = tree;
  const open = new Uint16Array(tree.frames.length); // how often a frame is on the stack
  const path = new Int32Array(level.length ? level.reduce((a, b) => Math.max(a, b)) + 2 : 1);
  const outermost = new Uint8Array(frame.length);
  let depth = 0; // of the stack
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
