import { feature } from 'fieldtrie/core';
import { Total } from '../Total';

/** Rendered when it is built. */
export default function Page() {
  const sorted = feature('sort', () => [30, 10, 2].sort((a, b) => a - b));
  return (
    <main>
      <p>{`server: ${sorted.join()}`}</p>
      <Total prices={sorted} />
    </main>
  );
}
