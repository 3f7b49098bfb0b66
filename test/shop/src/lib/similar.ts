// Similar products.

import type { Product } from './catalogue.ts';

/** The pairs of letters of a text. */
function pairsOf(text: string): Set<string> {
  const pairs = new Set<string>();
  for (let i = 0; i + 1 < text.length; i++) pairs.add(text.slice(i, i + 2));
  return pairs;
}

/** Similarity of two texts, from 0 to 1. */
function likeness(a: Set<string>, b: Set<string>): number {
  let both = 0;
  for (const pair of a) if (b.has(pair)) both++;
  return (2 * both) / (a.size + b.size || 1);
}

/** Returns the products most similar to one. */
export function findSimilar(all: Product[], to: Product, count: number): Product[] {
  const pairs = pairsOf(to.name + to.about);
  return all
    .filter((product) => product != to)
    .map((product) => ({ product, score: likeness(pairs, pairsOf(product.name + product.about)) }))
    .sort((a, b) => b.score - a.score)
    .slice(0, count)
    .map(({ product }) => product);
}
