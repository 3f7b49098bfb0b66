// Functions that match a search, and their total time.

import type { Frame, Tree } from './tree.ts';

/** A search in a tree. */
export interface Search {
  /** Error message for an invalid pattern. */
  problem?: string;
  matches(frame: Frame): boolean;
}

/** The matches of a search. Times are µs, summed over all page views. */
export interface Found {
  /** By frame: 1 if it matches. */
  frames: Uint8Array;
  /** Number of matching functions with time. */
  functions: number;
  /** Matching nodes with time, in preorder. */
  nodes: number[];
  /** Time of all matches. Nested matches count once. */
  total: number;
  /** Its share of the total time. */
  share: number;
}

const nothing: Search = { matches: () => false };

/**
 * Maximum length of the part of a name that regular expressions are matched against, so that long
 * names do not block typing.
 */
const longest = 1000;

/**
 * Parses a search in names and files: a text, which is case-sensitive if it contains capitals, or a
 * regular expression between slashes, optionally followed by i to ignore case.
 */
export function searchOf(text: string): Search {
  if (text == '') return nothing;
  const expression = /^\/(.+)\/(i?)$/.exec(text);
  if (expression) {
    try {
      const pattern = new RegExp(expression[1]!, expression[2]);
      return {
        matches: (frame) =>
          pattern.test(frame.name.slice(0, longest)) || pattern.test(frame.resource.slice(0, longest)),
      };
    } catch (error) {
      return { ...nothing, problem: error instanceof Error ? error.message : String(error) };
    }
  }
  if (text != text.toLowerCase())
    return { matches: ({ name, resource }) => name.includes(text) || resource.includes(text) };
  return {
    matches: ({ name, resource }) => name.toLowerCase().includes(text) || resource.toLowerCase().includes(text),
  };
}

/** Searches a tree. */
export function find(tree: Tree, search: Search): Found {
  const { frame, total, end } = tree;
  const frames = Uint8Array.from(tree.frames, (each) => (search.matches(each) ? 1 : 0));
  const found: Found = { frames, functions: 0, nodes: [], total: 0, share: 0 };
  const seen = new Uint8Array(frames.length);
  let inside = 0; // the end of the last outermost match
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

/**
 * Returns the next match after a node, or the previous one, wrapping around; -1 if there is none.
 */
export function nextMatch({ nodes }: Found, node: number, forward: boolean): number {
  if (nodes.length == 0) return -1;
  let low = 0; // number of matches before the node, or up to it
  let high = nodes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (forward ? nodes[middle]! <= node : nodes[middle]! < node) low = middle + 1;
    else high = middle;
  }
  return nodes[(forward ? low : low - 1 + nodes.length) % nodes.length]!;
}
