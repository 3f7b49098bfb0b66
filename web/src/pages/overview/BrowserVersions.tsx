// The versions of browsers: their shares, and how much slower they are than others of their family.

import { browsers } from '../../api/queries.ts';
import type { BrowserVersion, Estimate } from '../../api/types.ts';
import { useQuery, useSettled } from '../../state/responses.ts';
import { useView } from '../../state/view.ts';
import { Views } from '../../widgets/Interval.tsx';
import { Remarks } from '../../widgets/Notice.tsx';
import { moment, percent, signed, signedPercent } from '../../widgets/numbers.ts';
import { Panel } from '../../widgets/Panel.tsx';
import { Table, type Column } from '../../widgets/Table.tsx';

/** The panel about them, of what is selected. */
export function BrowserVersions() {
  const query = browsers(useView().selection);
  const shown = useQuery(useSettled() ? query : undefined);
  return (
    <Panel title="Browser versions" query={query} shown={shown}>
      {(response) => (
        <>
          <Table
            caption="Browser versions"
            columns={columns}
            rows={response.families.flatMap(({ versions }) => versions)}
            rowKey={({ browser }) => browser}
            order="-views"
            empty="No page views with a known browser version in this time range."
          />
          <p class="hint">
            Share among the versions of a browser; difference from its other versions, on the same page, day, device and
            release.
          </p>
          <Remarks stats={response.stats} />
        </>
      )}
    </Panel>
  );
}

/** Returns an estimate and its interval; a dash if it is unknown. */
export function estimateOf(of: Estimate | null, written: (value: number) => string): string {
  return of ? `${written(of.value)} (${written(of.low!)} to ${written(of.high!)})` : '–';
}

const columns: Column<BrowserVersion>[] = [
  { key: 'browser', title: 'version', text: true, value: ({ browser }) => browser, cell: ({ browser }) => browser },
  {
    key: 'views',
    title: 'views',
    term: 'views',
    value: ({ views }) => views,
    cell: ({ views }) => <Views of={views} />,
  },
  { key: 'share', title: 'share', value: ({ share }) => share, cell: ({ share }) => percent(share) },
  {
    key: 'effect',
    title: 'difference',
    value: ({ effect }) => effect?.value,
    cell: ({ effect }) => estimateOf(effect, signedPercent),
  },
  {
    key: 'ms',
    title: 'difference, ms',
    wide: true,
    value: ({ effect_ms }) => effect_ms?.value,
    cell: ({ effect_ms }) => estimateOf(effect_ms, signed),
  },
  {
    key: 'half',
    title: '50 % since',
    wide: true,
    value: ({ half_since }) => half_since ?? undefined,
    cell: ({ half_since }) => (half_since ? moment(half_since) : '–'),
  },
];
