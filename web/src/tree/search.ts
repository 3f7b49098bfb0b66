// Which functions a text is about, and what they take together.

import type { Frame, Tree } from './tree.ts';

/** A search in a tree. */
export interface Search {
  /** The error of an invalid text. */
  problem?: string;
  matches(frame: Frame): boolean;
}

/** What was found. Times are µs, over all page views. */
export interface Found {
  /** By frame: 1 if it matches. */
  frames: Uint8Array;
  /** How many functions match that take time. */
  functions: number;
  /** Nodes that match and take time, in preorder. */
  nodes: number[];
  /** The time of all matches. Nested matches count once. */
  total: number;
  /** Their share of all. */
  share: number;
}

const nothing: Search = { matches: () => false };

/** Expressions look at so much of a name, so that a long one does not hold up those who type. */
const longest = 1000;

/**
 * Reads what is looked for in names and files: a text, in which capitals count if there are some, or an expression
 * between slashes, with i behind it if capitals do not count.
 */
export function searchOf(text: string): Search {
  if (text == '') return nothing;
  const expression = /^\/(.+)\/(i?)$/.exec(text);
  if (expression) {
    try {
      const pattern = new RegExp(expression[1]!, expression[2]);
      return { matches: (frame) => pattern.test(frame.name.slice(0, longest)) || pattern.test(frame.resource.slice(0, longest)) };
    } catch (error) {
      return { ...nothing, problem: error instanceof Error ? error.message : String(error) };
    }
  }
  if (text != text.toLowerCase()) return { matches: ({ name, resource }) => name.includes(text) || resource.includes(text) };
  return { matches: ({ name, resource }) => name.toLowerCase().includes(text) || resource.toLowerCase().includes(text) };
}

/** Looks for something in a tree. */
export function find(tree: Tree, search: Search): Found {
  const { frame, total, end } = tree;
  const frames = Uint8Array.from(tree.frames, (each) => (search.matches(each) ? 1 : 0));
  const found: Found = { frames, functions: 0, nodes: [], total: 0, share: 0 };
  const seen = new Uint8Array(frames.length);
  let inside = 0; // the end of the last node that matched and is in no other
  for (let node = 1; node < frame.length; node++) {
    const at = frame[node]!;
    if (!frames[at] || total[node]! <= 0) continue;
    if (!seen[at]) found.functions++;
    seen[at] = 1;
    found.nodes.push(node);
    if (node < inside) continue;
    inside = end[node]!;
    found.total += total[node]!;
  }
  found.share = total[0]! > 0 ? found.total / total[0]! : 0;
  return found;
}

/** Returns the next match after a node, or the one before it, around the end; -1 if there is none. */
export function nextMatch({ nodes }: Found, node: number, forward: boolean): number {
  if (nodes.length == 0) return -1;
  let low = 0; // how many matches are before the node, or up to it
  let high = nodes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (forward ? nodes[middle]! <= node : nodes[middle]! < node) low = middle + 1;
    else high = middle;
  }
  return nodes[(forward ? low : low - 1 + nodes.length) % nodes.length]!;
}
