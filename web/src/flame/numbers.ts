// Formats the numbers of a tree's nodes in one unit.

import { amount, change, type Scale, type Unit } from '../tree/format.ts';
import type { Tree } from '../tree/tree.ts';

/** Formats times of a tree, which are in µs summed over all its page views. */
export interface Numbers {
  unit: Unit;
  /** Whether there is another side. */
  compared: boolean;
  self(node: number): string;
  total(node: number): string;
  baseTotal(node: number): string;
  /** Change of a node's total time against the other side. */
  change(node: number): string;
  /** Its share of another node's time, from 0 to 1. */
  shareOf(node: number, other: number): number;
  amount(us: number): string;
  baseAmount(us: number): string;
  /** The start of a call, if calls are in chronological order. Totals are durations then. */
  start?(node: number): string;
}

/**
 * Returns the formatter for a tree. Shares refer to the whole response, whatever shape the tree
 * has.
 */
export function numbersOf(tree: Tree, unit: Unit, viewsPerDay?: number): Numbers {
  const all = tree.source ?? tree;
  const scale: Scale = { unit, views: tree.views, total: all.total[0]!, viewsPerDay };
  const base: Scale = { unit, views: tree.baseViews, total: all.baseTotal?.[0] ?? 0, viewsPerDay };
  return {
    unit,
    compared: tree.baseTotal != undefined,
    self: (node) => amount(tree.self[node]!, scale),
    total: (node) => amount(tree.total[node]!, scale),
    baseTotal: (node) => amount(tree.baseTotal?.[node] ?? 0, base),
    change: (node) => change(tree.total[node]!, scale, tree.baseTotal?.[node] ?? 0, base),
    shareOf: (node, other) => (tree.total[other]! > 0 ? tree.total[node]! / tree.total[other]! : 0),
    amount: (us) => amount(us, scale),
    baseAmount: (us) => amount(us, base),
  };
}
