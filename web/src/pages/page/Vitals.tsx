// How page views of a page were for visitors, and the way to the functions behind that.

import { vitals } from '../../api/queries.ts';
import type { Selection } from '../../api/selection.ts';
import type { Estimate, VitalReport } from '../../api/types.ts';
import { useQuery } from '../../state/responses.ts';
import { linkHere } from '../../state/url.ts';
import { useView } from '../../state/view.ts';
import type { Term } from '../../widgets/meanings.ts';
import { Metric } from '../../widgets/Metric.tsx';
import { duration, number, percent, plural } from '../../widgets/numbers.ts';
import { Panel } from '../../widgets/Panel.tsx';

/** Labels that Web Vitals are kept by. */
const kept = /^(release|environment|device|browser|connection)[!=]/;

/** Reports whether Web Vitals can be asked for: they are those of whole page views. */
function haveVitals({ page, feature, label }: Selection): boolean {
  return page != '' && feature == '' && label.every((condition) => kept.test(condition));
}

/** The panel of a page's Web Vitals; nothing if none were reported. */
export function Vitals() {
  const { place, selection } = useView();
  const query = vitals(selection);
  const shown = useQuery(haveVitals(selection) ? query : undefined);
  const of = shown.response?.pages[0]?.vitals;
  if (!of?.length) return null;
  const phase = (name: string) => linkHere(place, { label: [...selection.label, `phase=${name}`] });
  return (
    <Panel title="Web Vitals" query={query} shown={shown}>
      <dl class="metrics">
        {of.map((vital) => (
          <Metric
            key={vital.name}
            name={`${vital.name.toUpperCase()}, p75`}
            term={vital.name as Term}
            value={inUnitOf(vital, vital.p75.value)}
            beside={`${vital.rating}${between(vital)}, ${percent(vital.good)} good`}
          />
        ))}
      </dl>
      <p class="hint">
        From {plural(Math.max(...of.map(({ views }) => views)), 'report')}, including page views that were not profiled.
        See <a href={phase('slow-interaction')}>what runs in slow interactions</a> and{' '}
        <a href={phase('before-lcp')}>what runs before LCP</a>.
      </p>
    </Panel>
  );
}

function inUnitOf({ unit }: VitalReport, value: number): string {
  return unit == 'score' ? number(value) : duration(value);
}

/** Writes the interval of the 75th percentile; nothing if it has none. */
function between(vital: VitalReport): string {
  const { low, high }: Estimate = vital.p75;
  if (!high) return '';
  return ` (${inUnitOf(vital, low ?? 0)} – ${inUnitOf(vital, high)})`;
}
