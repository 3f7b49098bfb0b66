// A budget for a function, to paste into the budgets file.

import type { Frame, Tree } from '../../tree/tree.ts';

/** The limit of a new budget, relative to the present value. */
const room = 1.1;

/**
 * Returns an entry as in docs/budgets.md: a limit of the function's self time, 10 % above its value
 * in a tree.
 */
export function budgetYaml(
  tree: Tree,
  frame: Frame,
  { page = '', feature = '' }: { page?: string; feature?: string },
): string {
  let us = 0;
  tree.frame.forEach((index, node) => {
    if (tree.frames[index] == frame) us += tree.self[node]!;
  });
  const ms = (us / 1000 / Math.max(1, tree.views)) * room;
  const limit = ms >= 10 ? Math.ceil(ms) : Math.max(0.01, Math.ceil(ms * 100) / 100);
  const text = JSON.stringify; // each JSON string is a valid YAML string
  const where = page || feature;
  const lines = [
    `name: ${text(`${frame.name}${where && ` on ${where}`}`.slice(0, 100))}`,
    page && `page: ${text(page)}`,
    feature && `feature: ${text(feature)}`,
    `function: {name: ${text(frame.name)}${frame.resource && `, resource: ${text(frame.resource)}`}}`,
    'metric: mean',
    'of: self',
    `limit: ${limit}ms`,
  ];
  return `  - ${lines.filter(Boolean).join('\n    ')}\n`;
}
