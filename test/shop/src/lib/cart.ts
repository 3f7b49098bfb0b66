// The cart and its price.

import type { Product } from './catalogue.ts';

/** A line of the cart. */
export interface Line {
  product: Product;
  count: number;
}

/** A filled cart. */
export function loadCart(products: Product[]): Line[] {
  return products.filter(({ id }) => id % 29 == 3).map((product, i) => ({ product, count: 1 + (i % 3) }));
}

/** The price of the lines without delivery, in cents. */
export const sumOf = (lines: Line[]) => lines.reduce((sum, { product, count }) => sum + product.price * count, 0);

/** Returns the minimum number of parcels for lines, by trial: each parcel holds a weight of 60. */
export function packParcels(lines: Line[]): number {
  const weights = lines.flatMap(({ product, count }) => Array.from({ length: count }, () => 3 + (product.id % 17)));
  let best = weights.length;
  for (let start = 0; start < 4000; start++) {
    const parcels: number[] = [];
    for (let i = 0; i < weights.length; i++) {
      const weight = weights[(i * 7 + start) % weights.length]!;
      const fits = parcels.findIndex((filled) => filled + weight <= 60);
      if (fits < 0) parcels.push(weight);
      else parcels[fits]! += weight;
    }
    best = Math.min(best, parcels.length);
  }
  return best;
}
