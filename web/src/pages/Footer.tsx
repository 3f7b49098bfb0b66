// How many page views are behind what is shown.

import { coverage } from '../api/questions.ts';
import type { List } from '../api/types.ts';
import { useAnswer } from '../state/answer.ts';
import { Explained } from '../widgets/Metric.tsx';
import { count, percent, plural } from '../widgets/numbers.ts';
import { useView } from './context.ts';

/** The sums of a list over its pages. */
export interface Covered {
  views: number;
  /** Page views that the profiled ones stand for, together with those that have no profile. */
  population: number;
  /** Page views without a profile, by the reason. */
  missing: Record<string, number>;
  selfUs: number;
  samples: number;
}

/** Adds up the pages of /api/v1/coverage. */
export function covered(list: List): Covered {
  const sum: Covered = { views: 0, population: 0, missing: {}, selfUs: 0, samples: 0 };
  for (const page of list.values) {
    sum.views += page.views;
    sum.selfUs += page.self_us;
    sum.samples += page.samples;
    let missing = 0;
    for (const [reason, views] of Object.entries(page.coverage ?? {})) {
      sum.missing[reason] = (sum.missing[reason] ?? 0) + views;
      missing += views;
    }
    sum.population += Math.max(page.population?.value ?? 0, page.views + missing);
  }
  return sum;
}

/** Says at the end of each page how many page views it rests on. */
export function Footer() {
  const { selection } = useView();
  const { answer } = useAnswer(coverage(selection));
  return (
    <footer>
      {answer && <Coverage of={covered(answer)} />}
      <p>
        <a href="./licenses" target="_blank">
          Licences
        </a>
        {' · '}
        <a href="./api/v1/openapi.yaml" target="_blank">
          API
        </a>
      </p>
    </footer>
  );
}

function Coverage({ of }: { of: Covered }) {
  const reasons = Object.entries(of.missing).sort((a, b) => b[1] - a[1]);
  return (
    <p>
      <Explained term="coverage">{plural(of.views, 'page view')} profiled</Explained> of{' '}
      {count(of.population)}
      {of.population ? ` (${percent(of.views / of.population)})` : ''} · Chromium only
      {reasons.length > 0 && ` · without a profile: ${reasons.map(([why, n]) => `${why} ${count(n)}`).join(', ')}`}
    </p>
  );
}
