import { useEffect, useState } from 'preact/hooks';
import type { Product } from '../lib/catalogue.ts';
import { findSimilar } from '../lib/similar.ts';
import { Card } from '../parts/Card.tsx';

/** The home page: new and popular products. */
export function Home({ products }: { products: Product[] }) {
  const [first, setFirst] = useState(0);
  const [offer, setOffer] = useState('');
  useEffect(() => {
    fetch('/offer.json').then(async (response) => setOffer((await response.json()).text));
  }, []);
  const picked = fieldtrie.feature('recommendations', () => findSimilar(products, products[first]!, 24));
  return (
    <main>
      {offer && <p class="offer">{offer}</p>}
      <img src="/hero.svg" alt="" width="1000" height="320" />
      <h1>For slow mornings</h1>
      <button id="next" onClick={() => setFirst(first + 1)}>
        Show me others
      </button>
      <ul class="cards">
        {picked.map((product) => (
          <Card key={product.id} product={product} />
        ))}
      </ul>
    </main>
  );
}
