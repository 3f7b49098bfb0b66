import { useState } from 'preact/hooks';
import type { Product } from '../lib/catalogue.ts';
import { searchProducts } from '../lib/search.ts';
import { Card } from '../parts/Card.tsx';

type Order = 'name' | 'price' | 'stars';

const collator = new Intl.Collator('de-DE', { sensitivity: 'base' });

/** Sorts products in the chosen order. */
function sortProducts(products: Product[], order: Order): Product[] {
  const compare = (a: Product, b: Product) =>
    order == 'price' ? a.price - b.price : order == 'stars' ? b.stars - a.stars : collator.compare(a.name + a.maker, b.name + b.maker);
  return [...products].sort(compare);
}

/** The list of all products. */
export function Products({ products }: { products: Product[] }) {
  const [query, setQuery] = useState('');
  const [order, setOrder] = useState<Order>('name');
  const shown = sortProducts(searchProducts(products, query), order).slice(0, 240);
  const search = (text: string) => fieldtrie.feature('search', () => setQuery(text));
  const sort = (by: Order) => fieldtrie.feature('sort', () => setOrder(by));
  return (
    <main>
      <h1>All products</h1>
      <input id="search" placeholder="Search" onInput={(event) => search(event.currentTarget.value)} />
      {(['name', 'price', 'stars'] as const).map((by) => (
        <button key={by} id={by} onClick={() => sort(by)}>
          by {by}
        </button>
      ))}
      <ul class="cards">
        {shown.map((product) => (
          <Card key={product.id} product={product} />
        ))}
      </ul>
    </main>
  );
}
