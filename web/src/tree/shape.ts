// Transformations that reduce a tree: merge recursion, hide functions, or keep only stacks through
// some functions.

import { Builder } from './build.ts';
import { framesWith } from './key.ts';
import type { Tree } from './tree.ts';

/** Transformations of a tree. A function is identified by the key of a stack with it alone. */
export interface Shape {
  /** Whether direct recursive calls are merged. */
  merged: boolean;
  /** Functions whose time is added to their callers. */
  hidden: readonly string[];
  /** If there are any, only stacks through one of these functions are kept. */
  focused: readonly string[];
}

/** No transformation. */
export const unshaped: Shape = { merged: false, hidden: [], focused: [] };

/** Returns the transformed tree, or the tree itself if there is nothing to do. */
export function shaped(tree: Tree, shape: Shape): Tree {
  let out = tree;
  if (shape.focused.length > 0) out = focus(out, framesWith(tree, shape.focused));
  if (shape.hidden.length > 0) out = hide(out, framesWith(tree, shape.hidden));
  return shape.merged ? mergeRecursion(out) : out;
}

/**
 * Returns a tree that joins direct recursive calls of a function with the first one. The time of
 * each function stays the same.
 */
export function mergeRecursion(tree: Tree): Tree {
  return without(tree, (node) => tree.frame[node] == tree.frame[tree.parent[node]!]);
}

/** Returns a tree without some frames: their callers get their time and their callees. */
export function hide(tree: Tree, frames: ReadonlySet<number>): Tree {
  return without(tree, (node) => frames.has(tree.frame[node]!));
}

/** Returns a tree in which some nodes are merged into their callers. */
function without(tree: Tree, leaves: (node: number) => boolean): Tree {
  const builder = new Builder(tree);
  const nodeOf = new Int32Array(tree.frame.length);
  for (let node = 1; node < nodeOf.length; node++) {
    const caller = nodeOf[tree.parent[node]!]!;
    const left = leaves(node);
    nodeOf[node] = left ? caller : builder.child(caller, tree.frame[node]!);
    if (!left) builder.standsFor(nodeOf[node]!, node);
    builder.add(nodeOf[node]!, tree.self[node]!, tree.baseSelf?.[node] ?? 0);
  }
  return builder.tree();
}

/** Returns a tree of only the stacks with one of the frames. Their callers have no self time. */
export function focus(tree: Tree, frames: ReadonlySet<number>): Tree {
  const builder = new Builder(tree);
  const nodeOf = new Int32Array(tree.frame.length).fill(-1);
  nodeOf[0] = 0;
  const numberOf = (node: number): number => {
    const path: number[] = [];
    for (let at = node; nodeOf[at]! < 0; at = tree.parent[at]!) path.push(at);
    for (const at of path.reverse()) {
      nodeOf[at] = builder.child(nodeOf[tree.parent[at]!]!, tree.frame[at]!);
      builder.standsFor(nodeOf[at]!, at);
    }
    return nodeOf[node]!;
  };
  let inside = 0; // the end of the last call of one of the frames
  for (let node = 1; node < nodeOf.length; node++) {
    if (node >= inside) {
      if (!frames.has(tree.frame[node]!)) continue;
      inside = tree.end[node]!;
    }
    builder.add(numberOf(node), tree.self[node]!, tree.baseSelf?.[node] ?? 0);
  }
  return builder.tree();
}
