// The lists of pages and of features.

import { useState } from 'preact/hooks';
import { budgets, catalog, list, series } from '../../api/queries.ts';
import { change } from '../../state/location.ts';
import { useQuery, useSettled } from '../../state/responses.ts';
import { useView } from '../../state/view.ts';
import { Legend } from '../../widgets/Metric.tsx';
import { Remarks } from '../../widgets/Notice.tsx';
import { plural } from '../../widgets/numbers.ts';
import { Panel } from '../../widgets/Panel.tsx';
import { ofPage } from '../../widgets/unit.ts';
import { useChart } from '../parts/chart.ts';
import { timeBefore } from './before.ts';
import { FirstTrace } from '../views/later.tsx';
import { Places } from './Places.tsx';

export function Pages() {
  return <ListPage kind="page" />;
}

export function Features() {
  return <ListPage kind="feature" />;
}

function ListPage({ kind }: { kind: 'page' | 'feature' }) {
  const { place, selection, from, to } = useView();
  const query = list(`${kind}s`, selection, 1000);
  const shown = useQuery(query);
  const whole = useQuery(series(selection, { step: 'all' }));
  const { chart } = useChart();
  const settled = useSettled();
  const trends = useQuery(settled ? series(chart, { group_by: kind }) : undefined);
  const before = useQuery(settled ? list(`${kind}s`, timeBefore(selection, from, to), 1000) : undefined);
  const limits = useQuery(settled ? budgets() : undefined);
  const stored = useQuery(catalog());
  const [filter, setFilter] = useState(place.params.get('q') ?? '');
  const search = (text: string) => {
    setFilter(text);
    change({ q: text }, true);
  };
  if (stored.response && !stored.response.entries.length) return <FirstTrace />;
  const point = whole.response?.groups[0]?.points[0];
  return (
    <div class="page">
      <h1>{kind == 'page' ? 'Pages' : 'Features'}</h1>
      <Panel
        title={shown.response ? plural(shown.response.values.length, kind) : 'All'}
        beside={
          <input
            type="search"
            placeholder="Filter by name"
            aria-label="Filter by name"
            value={filter}
            onInput={(event) => search(event.currentTarget.value)}
          />
        }
        query={query}
        shown={shown}
      >
        {(response) => (
          <>
            <Places
              kind={kind}
              list={response}
              totalUs={point ? ofPage(point) : 0}
              totalViews={point?.views ?? 0}
              series={trends.response}
              before={before.response?.values.length ? before.response : undefined}
              budgets={limits.response?.budgets}
              order={place.params.get('sort') ?? '-hours'}
              onOrder={(sort) => change({ sort }, true)}
              filter={filter}
            />
            <Remarks noSpread={response.no_spread} stats={response.stats} />
            {kind == 'feature' && !response.values.length && <NoFeatures />}
          </>
        )}
      </Panel>
      <Legend
        terms={[
          ['p75', 'p75'],
          ['Mean', 'perView'],
          ['±', 'interval'],
          ['Long tasks', 'longTasks'],
          ['Time per day', 'userHours'],
          ['vs. before', 'before'],
          ['Views', 'views'],
        ]}
      />
    </div>
  );
}

function NoFeatures() {
  return (
    <p class="hint">
      <code>{"fieldtrie.feature('search', () => …)"}</code> in a page measures a feature; rules in the{' '}
      <code>--budgets</code> file do the same without a change to the page.
    </p>
  );
}
