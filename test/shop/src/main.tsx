// A small shop. Each of its pages is a document.

import { options, render } from 'preact';
import { loadCatalogue } from './lib/catalogue.ts';
import { Cart } from './pages/Cart.tsx';
import { Checkout } from './pages/Checkout.tsx';
import { Home } from './pages/Home.tsx';
import { ProductPage } from './pages/Product.tsx';
import { Products } from './pages/Products.tsx';

declare global {
  const fieldtrie: { feature<T>(name: string, work: () => T): T };
}

options.debounceRendering = (work) => work(); // so that rendering counts for the feature of the click

function Shop() {
  const products = loadCatalogue();
  const [, place = '', id = ''] = location.pathname.split('/');
  if (place == 'products') return <Products products={products} />;
  if (place == 'product') return <ProductPage products={products} id={Number(id)} />;
  if (place == 'cart') return <Cart products={products} />;
  if (place == 'checkout') return <Checkout products={products} />;
  return <Home products={products} />;
}

render(<Shop />, document.querySelector('#root')!);
