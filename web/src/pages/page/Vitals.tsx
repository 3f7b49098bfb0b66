// A page's Web Vitals, with links to the functions behind them.

import { vitals } from '../../api/queries.ts';
import type { Selection } from '../../api/selection.ts';
import type { Estimate, VitalReport } from '../../api/types.ts';
import { useQuery } from '../../state/responses.ts';
import { linkHere } from '../../state/url.ts';
import { useView } from '../../state/view.ts';
import type { Term } from '../../widgets/meanings.ts';
import { Explained } from '../../widgets/Metric.tsx';
import { duration, number, percent, plural } from '../../widgets/numbers.ts';
import { Panel } from '../../widgets/Panel.tsx';

/** Upper limits of good values, and lower limits of poor ones: https://web.dev/articles/vitals. */
const limits: Record<string, readonly [good: number, poor: number]> = {
  lcp: [2500, 4000],
  inp: [200, 500],
  cls: [0.1, 0.25],
  fcp: [1800, 3000],
  ttfb: [800, 1800],
};

/** Labels by which Web Vitals are stored. */
const kept = /^(release|environment|device|browser|connection|arm|element)[!=]/;

/** Reports whether a query for Web Vitals is possible: they belong to whole page views. */
function haveVitals({ page, feature, label }: Selection): boolean {
  return page != '' && feature == '' && label.every((condition) => kept.test(condition));
}

/** The Web Vitals of the selected page, if a query is possible. */
export function useVitals() {
  const { selection } = useView();
  const query = vitals(selection);
  const shown = useQuery(haveVitals(selection) ? query : undefined);
  return { query, shown, of: shown.response?.pages[0]?.vitals ?? [] };
}

/** The panel of a page's Web Vitals; nothing if none were reported. */
export function Vitals() {
  const { place, selection } = useView();
  const { query, shown, of } = useVitals();
  if (!of.length) return null;
  const phase = (name: string) => linkHere(place, { label: [...selection.label, `phase=${name}`] });
  return (
    <Panel title="Web Vitals" query={query} shown={shown}>
      <dl class="vitals">
        {of.map((vital) => (
          <Rated key={vital.name} of={vital} />
        ))}
      </dl>
      <p class="hint">
        p75 of {plural(Math.max(...of.map(({ views }) => views)), 'report')}, profiled or not. Code that runs{' '}
        <a href={phase('slow-interaction')}>in slow interactions</a>, <a href={phase('before-lcp')}>before LCP</a>.
        {of.some(({ elements }) => elements) && (
          <>
            {' '}
            <a href="#elements" onClick={toElements}>
              Elements
            </a>
          </>
        )}
      </p>
    </Panel>
  );
}

/** Scrolls to the panel of elements at the end of the page. */
function toElements(event: Event): void {
  event.preventDefault();
  document.querySelector('.panel.elements')?.scrollIntoView({ behavior: 'smooth' });
}

/** A vital: its name, its value, its rating, and the shares of good, medium and poor page views. */
function Rated({ of }: { of: VitalReport }) {
  const [good, poor] = limits[of.name] ?? [];
  const at = (value: number | undefined) => (value == undefined ? '' : inUnitOf(of, value));
  const between = Math.max(0, 1 - of.good - of.poor);
  const text =
    `${percent(of.good)} good (up to ${at(good)}), ${percent(between)} need improvement, ` +
    `${percent(of.poor)} poor (over ${at(poor)})`;
  return (
    <div class="vital">
      <dt>
        <Explained term={of.name as Term}>{of.name.toUpperCase()}</Explained>
      </dt>
      <dd title={interval(of)}>
        <b>{inUnitOf(of, of.p75.value)}</b> <span class={`rated ${of.rating.replaceAll(' ', '-')}`}>{of.rating}</span>
      </dd>
      <dd class="shares" title={text}>
        <span class="hidden">{text}</span>
        {(['good', 'needs-improvement', 'poor'] as const).map((rating, i) => (
          <i key={rating} class={rating} style={{ flexGrow: [of.good, between, of.poor][i] }} aria-hidden="true">
            {i == 0 && of.good >= 0.2 && `${percent(of.good)}${good && of.good >= 0.45 ? ` within ${at(good)}` : ''}`}
          </i>
        ))}
      </dd>
    </div>
  );
}

/** Formats a value of a vital. */
export function inUnitOf({ unit }: VitalReport, value: number): string {
  return unit == 'score' ? number(value) : duration(value);
}

/** Formats the interval of the 75th percentile. */
function interval(vital: VitalReport): string {
  const { low, high }: Estimate = vital.p75;
  if (high == undefined) return 'no interval';
  return `95 % interval ${inUnitOf(vital, low ?? 0)} to ${inUnitOf(vital, high)}`;
}
