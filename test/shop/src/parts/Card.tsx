import type { Product } from '../lib/catalogue.ts';
import { formatPrice } from '../lib/money.ts';

/** Stars from one to five. */
export function Stars({ of }: { of: number }) {
  return <span class="stars">{'★'.repeat(Math.round(of)).padEnd(5, '☆')}</span>;
}

/** The price of a product, its previous price, and its unit price. */
export function Price({ of: { price, before, perUnit } }: { of: Product }) {
  return (
    <p class="price">
      <b>{formatPrice(price)}</b> <s>{formatPrice(before)}</s> <small>{formatPrice(perUnit)} each</small>
    </p>
  );
}

/** A product in a list. */
export function Card({ product }: { product: Product }) {
  return (
    <li class="card">
      <a href={`/product/${product.id}`}>{product.name}</a>
      <span>{product.maker}</span>
      <Stars of={product.stars} />
      <b>{formatPrice(product.price)}</b>
    </li>
  );
}
