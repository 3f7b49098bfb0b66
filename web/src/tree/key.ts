// Keys of nodes: what names a stack in a URL, and in a question for what is below it. The daemon makes the same ones.

import type { Frame, Tree } from './tree.ts';

/** A hash of 64 bits: FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/. */
interface Hash {
  high: number;
  low: number;
}

const empty: Hash = { high: 0xcbf29ce4, low: 0x84222325 };
const utf8 = new TextEncoder();

/** Adds bytes to a hash. The prime is 2⁴⁰ + 0x1b3, so that each half is multiplied by 0x1b3, and the lower one moves up. */
function hashed({ high, low }: Hash, bytes: Uint8Array): Hash {
  for (const byte of bytes) {
    low = (low ^ byte) >>> 0;
    const product = low * 0x1b3;
    high = (high * 0x1b3 + Math.floor(product / 2 ** 32) + low * 256) % 2 ** 32;
    low = product % 2 ** 32;
  }
  return { high, low };
}

const bytesOf = ({ name, resource, line, column }: Frame) => utf8.encode(`${name}\0${resource}\0${line}:${column}\n`);

const textOf = ({ high, low }: Hash) => high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0');

/** Returns the key of a stack, outermost first: 16 hexadecimal digits. */
export function keyOf(stack: readonly Frame[]): string {
  return textOf(stack.reduce((hash, frame) => hashed(hash, bytesOf(frame)), empty));
}

/** Returns the frames of a node and its callers, outermost first. */
export function stackOf(tree: Tree, node: number): Frame[] {
  const stack: Frame[] = [];
  for (let at = node; at > 0; at = tree.parent[at]!) stack.push(tree.frames[tree.frame[at]!]!);
  return stack.reverse();
}

/** Returns the node with a key, 0 if there is none. */
export function nodeWith(tree: Tree, key: string): number {
  const bytes = tree.frames.map(bytesOf);
  const hashes: Hash[] = [empty];
  for (let node = 1; node < tree.frame.length; node++) {
    const hash = hashed(hashes[tree.parent[node]!]!, bytes[tree.frame[node]!]!);
    if (textOf(hash) == key) return node;
    hashes.push(hash);
  }
  return 0;
}
