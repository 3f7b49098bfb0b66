// Nodes for the parts that a tree omits.

import { keyAt } from './key.ts';
import type { Frame, Tree } from './tree.ts';

/** Reports whether a frame represents nodes that were too small to be in the tree. */
export function isOther(frame: Frame | undefined): boolean {
  return frame?.name == '(other)' && frame.resource == '';
}

/**
 * Returns the key to query the contents of an (other) node with, as root: the key of its caller. It
 * is '' for all other nodes, below the root, and for a node that represents several nodes of the
 * API's tree.
 */
export function keyOfOther(tree: Tree, node: number): string {
  if (node <= 0 || !isOther(tree.frames[tree.frame[node]!])) return '';
  if (!tree.source) return keyAt(tree, tree.parent[node]!);
  const origin = tree.origin?.[node] ?? -1;
  return origin > 0 ? keyAt(tree.source, tree.source.parent[origin]!) : '';
}
