// The numbers of the nodes of a tree, written in one unit.

import { amount, change, type Scale, type Unit } from '../tree/format.ts';
import type { Tree } from '../tree/tree.ts';

/** Writes times of a tree, those of µs over all its page views. */
export interface Numbers {
  unit: Unit;
  /** Whether there is another side. */
  compared: boolean;
  self(node: number): string;
  total(node: number): string;
  baseTotal(node: number): string;
  /** By how much a node, with what it calls, differs from the other side. */
  change(node: number): string;
  /** Its part of what another node takes, from 0 to 1. */
  shareOf(node: number, other: number): number;
  amount(us: number): string;
  baseAmount(us: number): string;
  /** When a call began, if calls are in the order of time: totals are durations then. */
  start?(node: number): string;
}

/** Returns the formatter of a tree's numbers. Shares refer to the whole response, whatever shape the tree has. */
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
