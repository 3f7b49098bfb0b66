import { useState } from 'preact/hooks';
import { suggestAddresses } from '../lib/address.ts';
import { loadCart, sumOf } from '../lib/cart.ts';
import type { Product } from '../lib/catalogue.ts';
import { formatPrice } from '../lib/money.ts';

/** Whether digits are a valid card number. */
function validateCard(digits: string): boolean {
  let sum = 0;
  for (const [i, digit] of [...digits].reverse().entries()) {
    const value = Number(digit) * (i % 2 ? 2 : 1);
    sum += value > 9 ? value - 9 : value;
  }
  return digits.length == 16 && sum % 10 == 0;
}

/** Delivery and payment. */
export function Checkout({ products }: { products: Product[] }) {
  const [address, setAddress] = useState('');
  const [card, setCard] = useState('');
  const [sent, setSent] = useState(false);
  const offered = address.length > 2 ? fieldtrie.feature('address', () => suggestAddresses(address)) : [];
  const lines = loadCart(products);
  return (
    <main>
      <h1>Checkout</h1>
      <input id="address" placeholder="Street and town" onInput={(event) => setAddress(event.currentTarget.value)} />
      <ul>
        {offered.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
      <input id="card" placeholder="Card" onInput={(event) => setCard(event.currentTarget.value)} />
      <ol>
        {lines.map(({ product, count }) => (
          <li key={product.id}>
            {count} × {product.name}, {formatPrice(product.price * count)}
          </li>
        ))}
      </ol>
      <button id="pay" onClick={() => setSent(true)}>
        {sent ? 'Thank you' : `Pay ${formatPrice(sumOf(lines))}${validateCard(card) ? '' : ' …'}`}
      </button>
    </main>
  );
}
