// The number of page views behind the page.

import { coverage } from '../../api/queries.ts';
import { noTimeOf } from '../../api/selection.ts';
import type { ListSum } from '../../api/types.ts';
import { useQuery } from '../../state/responses.ts';
import { useView } from '../../state/view.ts';
import { Explained } from '../../widgets/Metric.tsx';
import { count, percent, plural } from '../../widgets/numbers.ts';

/** Shows the number of page views behind the page, at its end. */
export function Footer() {
  const { selection } = useView();
  const { response } = useQuery(noTimeOf(selection) ? undefined : coverage(selection));
  return (
    <footer>
      {response?.all && <Coverage of={response.all} />}
      <p>
        <a href="./docs/" target="_blank">
          Documentation
        </a>
        {' · '}
        <a href="./api/v1/openapi.yaml" target="_blank">
          API
        </a>
        {' · '}
        <a href="./licenses" target="_blank">
          Licences
        </a>
      </p>
    </footer>
  );
}

function Coverage({ of }: { of: ListSum }) {
  const reasons = Object.entries(of.missing).sort((a, b) => b[1] - a[1]);
  return (
    <div>
      <Explained term="coverage">{plural(of.views, 'page view')} profiled</Explained> of {count(of.population)}
      {of.population ? ` (${percent(of.views / of.population)})` : ''} · Chromium only
      {reasons.length > 0 && ` · without a profile: ${reasons.map(([why, n]) => `${why} ${count(n)}`).join(', ')}`}
    </div>
  );
}
