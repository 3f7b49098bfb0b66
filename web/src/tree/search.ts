// Which functions a text is about, and what they take together.

import { outermostNodes } from './functions.ts';
import type { Frame, Tree } from './tree.ts';

/** What somebody looks for. */
export interface Search {
  /** What is wrong with the text, if anything is. */
  problem?: string;
  matches(frame: Frame): boolean;
}

/** What was found. Times are µs, over all page views. */
export interface Found {
  /** By frame. */
  frames: Uint8Array;
  functions: number;
  /** Nodes that match and are below none that does, in preorder: what they take adds up. */
  nodes: number[];
  total: number;
}

const nothing: Search = { matches: () => false };

/**
 * Reads what is looked for in names and files: a text, in which capitals count if there are some, or an expression
 * between slashes.
 */
export function searchOf(text: string): Search {
  if (text == '') return nothing;
  const expression = /^\/(.+)\/(i?)$/.exec(text);
  if (expression) {
    try {
      const pattern = new RegExp(expression[1]!, expression[2]);
      return { matches: ({ name, resource }) => pattern.test(name) || pattern.test(resource) };
    } catch (error) {
      return { ...nothing, problem: error instanceof Error ? error.message : String(error) };
    }
  }
  if (text != text.toLowerCase()) return { matches: ({ name, resource }) => name.includes(text) || resource.includes(text) };
  return { matches: ({ name, resource }) => name.toLowerCase().includes(text) || resource.toLowerCase().includes(text) };
}

/** Looks for something in a tree. */
export function find(tree: Tree, search: Search): Found {
  const frames = Uint8Array.from(tree.frames, (frame) => (search.matches(frame) ? 1 : 0));
  const found: Found = { frames, functions: 0, nodes: [], total: 0 };
  const seen = new Uint8Array(frames.length);
  let below = 0; // the end of the last node that matched
  for (const [node] of outermostNodes(tree)) {
    const frame = tree.frame[node]!;
    if (!frames[frame] || tree.total[node] == 0) continue;
    if (!seen[frame]) found.functions++;
    seen[frame] = 1;
    if (node < below) continue;
    below = tree.end[node]!;
    found.nodes.push(node);
    found.total += tree.total[node]!;
  }
  return found;
}
