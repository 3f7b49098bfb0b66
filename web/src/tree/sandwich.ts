// Callers and callees of a function, over all stacks.

import { Builder } from './build.ts';
import { outermostOf } from './functions.ts';
import type { Tree } from './tree.ts';

/** Yields the outermost calls of a frame, so that time in recursive calls counts once. */
function* callsOf(tree: Tree, frame: number): Generator<number> {
  const outermost = outermostOf(tree);
  for (let node = 1; node < tree.frame.length; node++) {
    if (tree.frame[node] == frame && outermost[node]) yield node;
  }
}

/**
 * Returns the callees of a frame: the first node is the frame, and below it are its callees from
 * all stacks.
 */
export function callees(tree: Tree, frame: number): Tree {
  const builder = new Builder(tree);
  const nodeOf = new Int32Array(tree.frame.length);
  for (const call of callsOf(tree, frame)) {
    nodeOf[call] = builder.child(0, frame);
    for (let node = call; node < tree.end[call]!; node++) {
      if (node > call) nodeOf[node] = builder.child(nodeOf[tree.parent[node]!]!, tree.frame[node]!);
      builder.add(nodeOf[node]!, tree.self[node]!, tree.baseSelf?.[node] ?? 0);
    }
  }
  return alone(builder.tree());
}

/**
 * Returns the callers of a frame: the first node is the frame, below it are its callers, and below
 * them theirs. Times are total times of the frame's calls.
 */
export function callers(tree: Tree, frame: number): Tree {
  const builder = new Builder(tree);
  const above = tree.above?.toReversed() ?? [];
  for (const call of callsOf(tree, frame)) {
    let node = 0;
    for (let at = call; at > 0; at = tree.parent[at]!) node = builder.child(node, tree.frame[at]!);
    for (const caller of above) node = builder.child(node, caller);
    builder.add(node, tree.total[call]!, tree.baseTotal?.[call] ?? 0);
  }
  return alone(builder.tree());
}

/**
 * Marks a tree whose stacks start at the frame: nothing is above it, and its nodes have no stacks
 * in the source tree.
 */
function alone(tree: Tree): Tree {
  delete tree.above;
  delete tree.origin;
  delete tree.source;
  return tree;
}
