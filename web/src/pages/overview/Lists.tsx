// The lists of pages and of features.

import { useState } from 'preact/hooks';
import { budgets, catalog, list, series } from '../../api/questions.ts';
import { useAnswer, useSettled } from '../../state/answer.ts';
import { change } from '../../state/location.ts';
import { useView } from '../../state/view.ts';
import { Legend } from '../../widgets/Metric.tsx';
import { Remarks } from '../../widgets/Notice.tsx';
import { plural } from '../../widgets/numbers.ts';
import { Panel } from '../../widgets/Panel.tsx';
import { timeBefore } from './before.ts';
import { FirstTrace } from './FirstTrace.tsx';
import { Places } from './Places.tsx';

/** The list of pages. */
export function Pages() {
  return <ListPage kind="page" />;
}

/** The list of features. */
export function Features() {
  return <ListPage kind="feature" />;
}

function ListPage({ kind }: { kind: 'page' | 'feature' }) {
  const { place, selection, from, to } = useView();
  const question = list(`${kind}s`, selection, 1000);
  const shown = useAnswer(question);
  const whole = useAnswer(series(selection, { step: 'all' }));
  const settled = useSettled();
  const trends = useAnswer(settled ? series(selection, { group_by: kind }) : undefined);
  const before = useAnswer(settled ? list(`${kind}s`, timeBefore(selection, from, to), 1000) : undefined);
  const limits = useAnswer(settled ? budgets() : undefined);
  const stored = useAnswer(settled ? catalog() : undefined);
  const [filter, setFilter] = useState(place.params.get('q') ?? '');
  const search = (text: string) => {
    setFilter(text);
    change({ q: text }, true);
  };
  if (stored.answer && !stored.answer.entries.length) return <FirstTrace />;
  const point = whole.answer?.groups[0]?.points[0];
  return (
    <div class="page">
      <h1>{kind == 'page' ? 'Pages' : 'Features'}</h1>
      <Panel
        title={shown.answer ? plural(shown.answer.values.length, kind) : 'All'}
        beside={
          <input
            type="search"
            placeholder="Filter by name"
            aria-label="Filter by name"
            value={filter}
            onInput={(event) => search(event.currentTarget.value)}
          />
        }
        question={question}
        shown={shown}
      >
        {(answer) => (
          <>
            <Places
              kind={kind}
              list={answer}
              totalUs={point?.self_us ?? 0}
              totalViews={point?.views ?? 0}
              series={trends.answer}
              before={before.answer?.values.length ? before.answer : undefined}
              budgets={limits.answer?.budgets}
              order={place.params.get('sort') ?? '-hours'}
              onOrder={(sort) => change({ sort }, true)}
              filter={filter}
            />
            <Remarks noSpread={answer.no_spread} stats={answer.stats} />
            {kind == 'feature' && !answer.values.length && <NoFeatures />}
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
          ['Δ before', 'before'],
          ['Views', 'views'],
        ]}
      />
    </div>
  );
}

function NoFeatures() {
  return (
    <p class="hint">
      <code>{"fieldtrie.feature('search', () => …)"}</code> in a page measures a feature; rules in the <code>--budgets</code>{' '}
      file do the same without a change to the page.
    </p>
  );
}
