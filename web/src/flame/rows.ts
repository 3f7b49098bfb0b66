// The rows of a tree's table, depending on which calls are expanded.

import type { Tree } from '../tree/tree.ts';

/** Whether calls are expanded, by node. */
export type Open = Uint8Array;

const hasTime = (tree: Tree, node: number) => tree.total[node]! > 0 || (tree.baseTotal?.[node] ?? 0) > 0;

/** Returns the initially expanded calls: those that take at least a tenth of the total. */
export function openAtFirst(tree: Tree): Open {
  const open = new Uint8Array(tree.frame.length);
  for (let node = 0; node < open.length; node++) {
    if (node == 0 || tree.total[node]! >= tree.total[0]! / 10) open[node] = 1;
  }
  return open;
}

/**
 * Returns the nodes below another one whose callers are expanded, in preorder, without nodes that
 * take no time.
 */
export function rowsOf(tree: Tree, open: Open, top: number): number[] {
  const rows: number[] = [];
  const first = Math.max(1, top);
  for (let node = first; node < tree.end[top]!;) {
    if (!hasTime(tree, node)) {
      node = tree.end[node]!;
      continue;
    }
    rows.push(node);
    node = open[node] ? node + 1 : tree.end[node]!;
  }
  return rows;
}

/** Reports whether a node has callees that take time. */
export function hasCallees(tree: Tree, node: number): boolean {
  for (let callee = node + 1; callee < tree.end[node]!; callee = tree.end[callee]!)
    if (hasTime(tree, callee)) return true;
  return false;
}

/**
 * Returns the indentation of each node. It grows only below callers with several callees, because
 * stacks of frameworks are deep and most of their calls have one callee.
 */
export function indentsOf(tree: Tree): Uint16Array {
  const callees = new Uint32Array(tree.frame.length);
  for (let node = 1; node < callees.length; node++) if (hasTime(tree, node)) callees[tree.parent[node]!]!++;
  const indents = new Uint16Array(callees.length);
  for (let node = 1; node < indents.length; node++) {
    const parent = tree.parent[node]!;
    indents[node] = parent == 0 ? 0 : indents[parent]! + (callees[parent]! > 1 ? 1 : 0);
  }
  return indents;
}

/** Returns open with all callers of a node expanded, or open itself if they are already. */
export function opened(tree: Tree, open: Open, node: number): Open {
  let more: Open | undefined;
  for (let at = tree.parent[node]!; at > 0; at = tree.parent[at]!) {
    if (open[at]) continue;
    more ??= open.slice();
    more[at] = 1;
  }
  return more ?? open;
}
