// What of a flame graph is on the screen, and how keys and pointers move it.

import { stackOf } from '../tree/key.ts';
import type { Tree } from '../tree/tree.ts';
import type { Layout, Range } from './layout.ts';

/** Returns the range of a node. */
export function rangeOf(tree: Tree, layout: Layout, node: number): Range {
  const from = layout.start[node]!;
  return { from, to: from + Math.max(tree.total[node]!, 1e-9) };
}

/** Returns a range that is narrower by a factor around a place, or wider; never wider than all. */
export function scaled(range: Range, at: number, factor: number, all: number): Range {
  const least = all / 1e7;
  const width = Math.min(all, Math.max(least, (range.to - range.from) * factor));
  const from = at - ((at - range.from) * width) / (range.to - range.from);
  return moved({ from, to: from + width }, 0, all);
}

/** Returns a range that is moved by a part of its width, and stays within all. */
export function moved(range: Range, part: number, all: number): Range {
  const width = range.to - range.from;
  const from = Math.min(Math.max(0, range.from + part * width), all - width);
  return { from, to: from + width };
}

/** Returns the node that a key leads to from another: its caller, its first callee, or one beside it. */
export function neighbour(tree: Tree, layout: Layout, node: number, key: string): number {
  switch (key) {
    case 'ArrowUp':
      return Math.max(0, tree.parent[node]!);
    case 'ArrowDown':
      return node + 1 < tree.end[node]! ? heaviest(tree, node) : node;
    case 'ArrowLeft':
    case 'ArrowRight': {
      const row = layout.levels[tree.level[node]!]!;
      let at = row.indexOf(node);
      const step = key == 'ArrowLeft' ? -1 : 1;
      do at += step;
      while (row[at] != undefined && tree.total[row[at]!]! <= 0);
      return row[at] ?? node;
    }
  }
  return node;
}

/** The callee with the most time. */
function heaviest(tree: Tree, node: number): number {
  let best = node + 1;
  for (let child = node + 1; child < tree.end[node]!; child = tree.end[child]!) {
    if (tree.total[child]! > tree.total[best]!) best = child;
  }
  return best;
}

/** Returns a stack as text, outermost first, one call a line. */
export function stackText(tree: Tree, node: number): string {
  return stackOf(tree, node)
    .map(({ name, resource, line, column }) => `${name || '(anonymous)'}${resource ? ` (${resource}:${line}:${column})` : ''}`)
    .join('\n');
}
