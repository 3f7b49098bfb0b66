import { useState } from 'preact/hooks';
import { loadCart, packParcels, sumOf, type Line } from '../lib/cart.ts';
import type { Product } from '../lib/catalogue.ts';
import { formatPrice } from '../lib/money.ts';

/** The cart. */
export function Cart({ products }: { products: Product[] }) {
  const [lines, setLines] = useState(() => loadCart(products));
  const parcels = fieldtrie.feature('delivery', () => packParcels(lines));
  const more = (at: number) => setLines(lines.map((line, i) => (i == at ? { ...line, count: line.count + 1 } : line)));
  return (
    <main>
      <h1>Cart</h1>
      <table>
        {lines.map((line, i) => (
          <Row key={line.product.id} line={line} more={() => more(i)} />
        ))}
      </table>
      <p>
        {parcels} parcels, {formatPrice(sumOf(lines) + parcels * 490)}
      </p>
      <a href="/checkout">To the checkout</a>
    </main>
  );
}

function Row({ line: { product, count }, more }: { line: Line; more: () => void }) {
  return (
    <tr>
      <td>{product.name}</td>
      <td>{formatPrice(product.price)}</td>
      <td>{count}</td>
      <td>
        <button class="more" onClick={more}>
          +
        </button>
      </td>
      <td>{formatPrice(product.price * count)}</td>
    </tr>
  );
}
