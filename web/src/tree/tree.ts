// A call tree in the columns that the API returns, and as nodes.

/**
 * The frames of a tree: indexes into its strings, and lines and columns, which start at 1 and are 0
 * if they are unknown.
 */
export interface FrameColumns {
  name: number[];
  resource: number[];
  line: number[];
  column: number[];
}

/**
 * A tree in columns, as encode/columns writes it; see docs/api.md. Times are µs, summed over the
 * page views.
 */
export interface TreeColumns {
  unit: 'us';
  views: number;
  traces: number;
  total_us: number;
  strings: string[];
  frames: FrameColumns;
  /**
   * Nodes in preorder without the root: frame, depth below the nodes directly under the root, and
   * self time.
   */
  label: number[];
  level: number[];
  self: number[];
  /** The other side of a comparison, for the same nodes. */
  base?: SideColumns;
  root?: number[];
  pruned: { nodes: number; self_us: number };
}

/** The other side of a comparison. */
export interface SideColumns {
  views: number;
  traces: number;
  total_us: number;
  self: number[];
}

/** Response of /api/v1/tree, callers and callees: a tree and its statistics. */
export interface TreeResponse extends TreeColumns {
  base?: SideColumns & { stats: Stats; own_us?: number };
  /** Time of the profiling script, summed over all page views, if it is not in the tree. */
  own_us?: number;
  stats: Stats;
}

/** The data behind a response. */
export interface Stats {
  traces: number;
  bytes: number;
  partitions: number;
  warnings?: string[];
  names?: unknown;
}

/** A function, as identified by the frames of a tree. */
export interface Frame {
  name: string;
  resource: string;
  line: number;
  column: number;
}

/** A call tree. Node 0 is the root; the callees of each node follow it in preorder. */
export interface Tree {
  frames: Frame[];
  /** By node: index of its frame, -1 for the root. */
  frame: Int32Array;
  /** By node: its caller, -1 for the root. */
  parent: Int32Array;
  /** By node: depth below the root. */
  level: Uint16Array;
  /** By node: the first node after its subtree. */
  end: Uint32Array;
  /** By node: self time in µs, summed over all page views. */
  self: Float64Array;
  total: Float64Array;
  /** Self time on the other side of a comparison, if there is one. */
  baseSelf?: Float64Array;
  baseTotal?: Float64Array;
  /**
   * The frames that call the first node, outermost first, if the tree is only the callees of a
   * node.
   */
  above?: number[];
  /**
   * For a derived tree: the original tree, and by node the original node, or -1 for a merged one.
   */
  source?: Tree;
  origin?: Int32Array;
  /** Number of page views by which times are divided. */
  views: number;
  baseViews: number;
}

/** Returns the tree of a response. */
export function treeOf(response: TreeColumns): Tree {
  const n = response.label.length + 1;
  const tree = nestedOf(framesOf(response.strings, response.frames), response.label, response.level);
  tree.views = response.views;
  tree.baseViews = response.base?.views ?? 0;
  if (response.root?.length) tree.above = response.root;
  for (let i = 1; i < n; i++) tree.self[i] = response.self[i - 1] ?? 0;
  if (response.base) {
    tree.baseSelf = new Float64Array(n);
    tree.baseSelf.set(response.base.self.slice(0, n - 1), 1);
  }
  sumUp(tree);
  return tree;
}

/** Returns the frames of a response. */
export function framesOf(strings: readonly string[], columns: FrameColumns): Frame[] {
  return columns.name.map((name, i) => ({
    name: strings[name] ?? '',
    resource: strings[columns.resource[i] ?? 0] ?? '',
    line: columns.line[i] ?? 0,
    column: columns.column[i] ?? 0,
  }));
}

/**
 * Returns the tree of nodes in preorder without the root, from their frames and depths below the
 * nodes directly under the root. It has no times.
 */
export function nestedOf(frames: Frame[], label: readonly number[], levels: readonly number[]): Tree {
  const n = label.length + 1;
  const tree: Tree = {
    frames,
    frame: new Int32Array(n).fill(-1),
    parent: new Int32Array(n).fill(-1),
    level: new Uint16Array(n),
    end: new Uint32Array(n),
    self: new Float64Array(n),
    total: new Float64Array(n),
    views: 1,
    baseViews: 0,
  };
  const path = new Int32Array(deepest + 1); // by level: the last node of this level
  let above = 0; // level of the previous node
  for (let i = 1; i < n; i++) {
    const level = Math.min((levels[i - 1] ?? 0) + 1, above + 1, deepest);
    tree.frame[i] = label[i - 1] ?? 0;
    tree.level[i] = level;
    tree.parent[i] = path[level - 1]!;
    path[level] = i;
    above = level;
  }
  return tree;
}

/** Maximum of a level's type. The daemon truncates stacks long before. */
const deepest = 65_535;

/** Computes total times and subtree ends of nodes from their callers and self times. */
export function sumUp(tree: Tree): void {
  tree.total = totals(tree.parent, tree.self);
  if (tree.baseSelf) tree.baseTotal = totals(tree.parent, tree.baseSelf);
  for (let i = tree.end.length - 1; i >= 0; i--) {
    const end = Math.max(tree.end[i]!, i + 1);
    tree.end[i] = end;
    if (i > 0) tree.end[tree.parent[i]!] = Math.max(tree.end[tree.parent[i]!]!, end);
  }
}

/** Returns the total time of each node. */
function totals(parent: Int32Array, self: Float64Array): Float64Array {
  const total = Float64Array.from(self);
  for (let i = total.length - 1; i > 0; i--) total[parent[i]!]! += total[i]!;
  return total;
}
