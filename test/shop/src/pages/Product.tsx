import { useState } from 'preact/hooks';
import { randomOf, type Product } from '../lib/catalogue.ts';
import { findSimilar } from '../lib/similar.ts';
import { Card, Price, Stars } from '../parts/Card.tsx';

/** Renders a customer's review as HTML: *strong*, _stressed_, and lines. */
function renderReview(text: string): string {
  return text
    .replace(/[&<>]/g, (letter) => `&#${letter.charCodeAt(0)};`)
    .replace(/\*([^*]+)\*/g, '<b>$1</b>')
    .replace(/_([^_]+)_/g, '<i>$1</i>')
    .split(/(?<=\.) /)
    .map((line) => `<p>${line}</p>`)
    .join('');
}

function writeReviews(product: Product): string[] {
  const random = randomOf(product.id);
  const words = product.about.split(' ');
  const sentence = () => Array.from({ length: 9 }, (_, i) => (random() < 0.2 ? `*${words[i]}*` : words[i])).join(' ') + '.';
  return Array.from({ length: 260 }, () => Array.from({ length: 6 }, sentence).join(' '));
}

/** The page of a product. */
export function ProductPage({ products, id }: { products: Product[]; id: number }) {
  const product = products[id % products.length]!;
  const [open, setOpen] = useState(false);
  const [count, setCount] = useState(0);
  const similar = fieldtrie.feature('recommendations', () => findSimilar(products, product, 12));
  return (
    <main>
      <h1>{product.name}</h1>
      <img src="/hero.svg" alt="" width="600" height="400" />
      <Stars of={product.stars} />
      <Price of={product} />
      <button id="add" onClick={() => fieldtrie.feature('add-to-cart', () => setCount(count + 1))}>
        Into the cart ({count})
      </button>
      <button id="reviews" onClick={() => fieldtrie.feature('reviews', () => setOpen(!open))}>
        Reviews
      </button>
      {open && writeReviews(product).map((text, i) => <blockquote key={i} dangerouslySetInnerHTML={{ __html: renderReview(text) }} />)}
      <ul class="cards">
        {similar.map((other) => (
          <Card key={other.id} product={other} />
        ))}
      </ul>
    </main>
  );
}
