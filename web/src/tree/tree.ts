// A call tree as the API answers it, in columns, and what follows from it.

/** The frames of a tree: indexes into its strings, and numbers from 1, or 0 where they are not known. */
export interface FrameColumns {
  name: number[];
  resource: number[];
  line: number[];
  column: number[];
}

/** What /api/v1/tree, callers and callees answer; see docs/api.md. Times are µs, summed over the page views. */
export interface TreeAnswer {
  unit: 'us';
  views: number;
  traces: number;
  total_us: number;
  strings: string[];
  frames: FrameColumns;
  /** Nodes in preorder, the root left out: which frame, how many calls below the first ones, self time. */
  label: number[];
  level: number[];
  self: number[];
  /** The other side of a comparison, for the same nodes. */
  base?: { views: number; traces: number; total_us: number; self: number[]; stats: Stats };
  root?: number[];
  pruned: { nodes: number; self_us: number };
  stats: Stats;
}

/** What an answer rests on. */
export interface Stats {
  traces: number;
  bytes: number;
  partitions: number;
  warnings?: string[];
  names?: unknown;
}

/** A function, as the frames of a tree name it. */
export interface Frame {
  name: string;
  resource: string;
  line: number;
  column: number;
}

/** A call tree. Node 0 is the root, which stands for all; its callees follow each node in preorder. */
export interface Tree {
  frames: Frame[];
  /** By node: its frame, -1 for the root. */
  frame: Int32Array;
  /** By node: its caller, -1 for the root. */
  parent: Int32Array;
  /** By node: calls below the root. */
  level: Uint16Array;
  /** By node: the first node that is no more below it. */
  end: Uint32Array;
  /** By node, in µs summed over all page views. */
  self: Float64Array;
  total: Float64Array;
  /** The same of the other side of a comparison, if there is one. */
  baseSelf?: Float64Array;
  baseTotal?: Float64Array;
  /** Page views that times are divided by. */
  views: number;
  baseViews: number;
}

/** Returns the tree of an answer. */
export function treeOf(answer: TreeAnswer): Tree {
  const n = answer.label.length + 1;
  const { strings, frames: columns } = answer;
  const frames = columns.name.map((name, i) => ({
    name: strings[name] ?? '',
    resource: strings[columns.resource[i] ?? 0] ?? '',
    line: columns.line[i] ?? 0,
    column: columns.column[i] ?? 0,
  }));
  const tree: Tree = {
    frames,
    frame: new Int32Array(n).fill(-1),
    parent: new Int32Array(n).fill(-1),
    level: new Uint16Array(n),
    end: new Uint32Array(n),
    self: new Float64Array(n),
    total: new Float64Array(n),
    views: answer.views,
    baseViews: answer.base?.views ?? 0,
  };
  const path = new Int32Array(65_536); // by level: the last node there
  for (let i = 1; i < n; i++) {
    const level = (answer.level[i - 1] ?? 0) + 1;
    tree.frame[i] = answer.label[i - 1] ?? 0;
    tree.level[i] = level;
    tree.parent[i] = path[level - 1] ?? 0;
    tree.self[i] = answer.self[i - 1] ?? 0;
    path[level] = i;
  }
  tree.total = totals(tree, tree.self);
  if (answer.base) {
    tree.baseSelf = Float64Array.from([0, ...answer.base.self]);
    tree.baseTotal = totals(tree, tree.baseSelf);
  }
  for (let i = n - 1; i >= 0; i--) {
    tree.end[i] = Math.max(tree.end[i]!, i + 1);
    if (i > 0) tree.end[tree.parent[i]!] = Math.max(tree.end[tree.parent[i]!]!, tree.end[i]!);
  }
  return tree;
}

/** Returns what each node and all that it called took. */
function totals(tree: Tree, self: Float64Array): Float64Array {
  const total = Float64Array.from(self);
  for (let i = total.length - 1; i > 0; i--) total[tree.parent[i]!]! += total[i]!;
  return total;
}
