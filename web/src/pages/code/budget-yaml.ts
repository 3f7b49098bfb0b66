// A budget for a function, to be pasted into the file of budgets.

import type { Frame, Tree } from '../../tree/tree.ts';

/** How much more than now a new budget allows. */
const room = 1.1;

/** Returns an entry of docs/budgets.md: the function may take a tenth more of its own time than in a tree. */
export function budgetYaml(tree: Tree, frame: Frame, { page = '', feature = '' }: { page?: string; feature?: string }): string {
  let us = 0;
  tree.frame.forEach((index, node) => {
    if (tree.frames[index] == frame) us += tree.self[node]!;
  });
  const ms = (us / 1000 / Math.max(1, tree.views)) * room;
  const limit = ms >= 10 ? Math.ceil(ms) : Math.max(0.01, Math.ceil(ms * 100) / 100);
  const text = JSON.stringify; // each string of JSON is a string of YAML
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
