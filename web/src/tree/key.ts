// Keys of stacks identify nodes in URLs and in queries for subtrees. The daemon computes the same
// keys.

import type { Frame, Tree } from './tree.ts';

// 64-bit FNV-1a in two halves of 32 bits: http://www.isthe.com/chongo/tech/comp/fnv/. The prime is
// 2⁴⁰ + 0x1b3.
const offset = [0xcbf29ce4, 0x84222325] as const;
const prime = 0x1b3;
const two32 = 2 ** 32;

type Hash = [high: number, low: number];

const utf8 = new TextEncoder();

const bytesOf = ({ name, resource, line, column }: Frame) => utf8.encode(`${name}\0${resource}\0${line}:${column}\n`);

/** Adds bytes to a hash, in place. */
function add(hash: Hash, bytes: Uint8Array): void {
  let [high, low] = hash;
  for (let i = 0; i < bytes.length; i++) {
    low = (low ^ bytes[i]!) >>> 0;
    const product = low * prime;
    high = (high * prime + Math.floor(product / two32) + low * 256) % two32;
    low = product % two32;
  }
  hash[0] = high;
  hash[1] = low;
}

const digits = (half: number) => half.toString(16).padStart(8, '0');

/** Returns the key of a stack, outermost frame first: 16 hexadecimal digits. */
export function keyOf(stack: readonly Frame[]): string {
  const hash: Hash = [...offset];
  for (const frame of stack) add(hash, bytesOf(frame));
  return digits(hash[0]) + digits(hash[1]);
}

/**
 * Returns the frames of a node and of all its callers, outermost first, including the callers above
 * the tree.
 */
export function stackOf(tree: Tree, node: number): Frame[] {
  const stack: Frame[] = [];
  for (let at = node; at > 0; at = tree.parent[at]!) stack.push(tree.frames[tree.frame[at]!]!);
  for (const frame of tree.above?.toReversed() ?? []) stack.push(tree.frames[frame]!);
  return stack.reverse();
}

/** Returns the key of a node's stack, '' for the root. */
export function keyAt(tree: Tree, node: number): string {
  return node > 0 ? keyOf(stackOf(tree, node)) : '';
}

/** Returns the node with a key, 0 if there is none. */
export function nodeWith(tree: Tree, key: string): number {
  if (!/^[0-9a-f]{16}$/.test(key)) return 0;
  const wantHigh = parseInt(key.slice(0, 8), 16);
  const wantLow = parseInt(key.slice(8), 16);
  const bytes = tree.frames.map(bytesOf);
  const n = tree.frame.length;
  const high = new Uint32Array(n);
  const low = new Uint32Array(n);
  const hash: Hash = [...offset];
  for (const frame of tree.above ?? []) add(hash, bytes[frame]!);
  [high[0], low[0]] = hash;
  for (let node = 1; node < n; node++) {
    const parent = tree.parent[node]!;
    hash[0] = high[parent]!;
    hash[1] = low[parent]!;
    add(hash, bytes[tree.frame[node]!]!);
    if (hash[0] == wantHigh && hash[1] == wantLow) return node;
    high[node] = hash[0];
    low[node] = hash[1];
  }
  return 0;
}

/**
 * Returns the indices of frames with one of the keys. The key of a frame is the key of a stack with
 * this frame alone.
 */
export function framesWith(tree: Tree, keys: readonly string[]): Set<number> {
  const wanted = new Set(keys);
  const found = new Set<number>();
  if (wanted.size > 0) tree.frames.forEach((frame, at) => wanted.has(keyOf([frame])) && found.add(at));
  return found;
}
