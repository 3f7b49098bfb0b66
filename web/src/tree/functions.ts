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

/** Returns the functions of a tree, that with the most self time first. */
export function functionsOf(tree: Tree): FunctionSum[] {
  const sums = tree.frames.map((_, frame) => ({ frame, self: 0, total: 0, baseSelf: 0, baseTotal: 0 }));
  for (const [node, outermost] of outermostNodes(tree)) {
    const sum = sums[tree.frame[node]!]!;
    sum.self += tree.self[node]!;
    sum.baseSelf += tree.baseSelf?.[node] ?? 0;
    if (!outermost) continue;
    sum.total += tree.total[node]!;
    sum.baseTotal += tree.baseTotal?.[node] ?? 0;
  }
  const used = sums.filter(({ total, baseTotal }) => total != 0 || baseTotal != 0);
  return used.sort((a, b) => b.self - a.self || b.total - a.total || a.frame - b.frame);
}

/** Yields each node but the root, and whether no caller of it is of the same function. */
export function* outermostNodes(tree: Tree): Generator<[node: number, outermost: boolean]> {
  const open = new Uint16Array(tree.frames.length);
  const path: number[] = [];
  for (let node = 1; node < tree.frame.length; node++) {
    for (let last = path.at(-1); last != undefined && tree.end[last]! <= node; last = path.at(-1)) {
      open[tree.frame[last]!]!--;
      path.pop();
    }
    const frame = tree.frame[node]!;
    yield [node, open[frame] == 0];
    open[frame]!++;
    path.push(node);
  }
}
