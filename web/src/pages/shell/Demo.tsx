// The banner of the demo.

import { catalog } from '../../api/queries.ts';
import { useQuery, useSettled } from '../../state/responses.ts';

/** Describes the data of a demo on each of its pages. */
export function Demo() {
  const settled = useSettled();
  const { response } = useQuery(settled ? catalog() : undefined);
  if (!response?.demo) return null;
  return (
    <aside class="demo" aria-label="Demo">
      <p>
        {response.demo} <a href="./docs/demo.html">What else the demo contains</a>
      </p>
    </aside>
  );
}
