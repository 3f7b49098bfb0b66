// The search of the list of products.

import type { Product } from './catalogue.ts';

/** Splits a text into words. */
function wordsOf(text: string): string[] {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().split(/[^a-z0-9]+/u).filter(Boolean);
}

/** Returns the products whose words begin with the words of a query, best match first. */
export function searchProducts(products: Product[], query: string): Product[] {
  const wanted = wordsOf(query);
  if (!wanted.length) return products;
  return products
    .map((product) => ({ product, score: scoreOf(wordsOf(`${product.name} ${product.maker} ${product.about}`), wanted) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ product }) => product);
}

/** Returns how well words match the wanted ones: 0 if one is missing. */
function scoreOf(words: string[], wanted: string[]): number {
  let score = 0;
  for (const want of wanted) {
    const at = words.findIndex((word) => word.startsWith(want));
    if (at < 0) return 0;
    score += 1 + 1 / (1 + at);
  }
  return score;
}
