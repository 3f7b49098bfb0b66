// Builds trees from the nodes of another tree.

import { sumUp, type Tree } from './tree.ts';

/**
 * Collects the nodes of a tree and merges callees of the same caller with the same frame. Nodes are
 * numbered in the order of their creation; 0 is the root.
 */
export class Builder {
  readonly #from: Tree;
  readonly #parent = [-1];
  readonly #frame = [-1];
  readonly #self = [0];
  readonly #base = [0];
  readonly #origin = [0];
  readonly #children = new Map<number, number>();

  /** Starts a tree of nodes of another tree. */
  constructor(from: Tree) {
    this.#from = from;
  }

  /** Returns the node of a frame below a node, and creates it if necessary. */
  child(parent: number, frame: number): number {
    const key = parent * this.#from.frames.length + frame;
    const known = this.#children.get(key);
    if (known != undefined) return known;
    const node = this.#parent.push(parent) - 1;
    this.#frame.push(frame);
    this.#self.push(0);
    this.#base.push(0);
    this.#origin.push(-2);
    this.#children.set(key, node);
    return node;
  }

  /** Adds times to a node, in µs. */
  add(node: number, self: number, base: number): void {
    this.#self[node]! += self;
    this.#base[node]! += base;
  }

  /** Records which node of the original tree a node represents. */
  standsFor(node: number, origin: number): void {
    this.#origin[node] = this.#origin[node] == -2 ? origin : -1;
  }

  /** Returns the tree in preorder, with the callee that took the most time first. */
  tree(): Tree {
    const from = this.#from;
    const order = this.#preorder();
    const n = order.length;
    const place = new Int32Array(n); // by number
    const tree: Tree = {
      frames: from.frames,
      frame: new Int32Array(n).fill(-1),
      parent: new Int32Array(n).fill(-1),
      level: new Uint16Array(n),
      end: new Uint32Array(n),
      self: new Float64Array(n),
      total: new Float64Array(n),
      views: from.views,
      baseViews: from.baseViews,
      source: from.source ?? from,
      origin: new Int32Array(n),
    };
    if (from.baseSelf) tree.baseSelf = new Float64Array(n);
    if (from.above) tree.above = from.above;
    for (let i = 0; i < n; i++) {
      const node = order[i]!;
      place[node] = i;
      tree.self[i] = this.#self[node]!;
      if (tree.baseSelf) tree.baseSelf[i] = this.#base[node]!;
      if (i == 0) continue;
      const parent = place[this.#parent[node]!]!;
      tree.frame[i] = this.#frame[node]!;
      tree.parent[i] = parent;
      tree.level[i] = tree.level[parent]! + 1;
      const origin = Math.max(-1, this.#origin[node]!);
      tree.origin![i] = origin > 0 && from.origin ? from.origin[origin]! : origin;
    }
    sumUp(tree);
    return tree;
  }

  /** Numbers in preorder. A node has a higher number than its caller. */
  #preorder(): Int32Array {
    const n = this.#parent.length;
    const size = Float64Array.from(this.#self, (self, node) => self + this.#base[node]!);
    for (let node = n - 1; node > 0; node--) size[this.#parent[node]!]! += size[node]!;
    const callees: number[][] = Array.from({ length: n }, () => []);
    for (let node = 1; node < n; node++) callees[this.#parent[node]!]!.push(node);
    const order = new Int32Array(n);
    const stack = [0];
    for (let i = 0; i < n; i++) {
      const node = stack.pop()!;
      order[i] = node;
      const below = callees[node]!;
      if (below.length > 1) below.sort((a, b) => size[a]! - size[b]! || b - a);
      for (const callee of below) stack.push(callee);
    }
    return order;
  }
}
