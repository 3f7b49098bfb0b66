// The selection's numbers by device, browser, connection and other labels.

import { useState } from 'preact/hooks';
import { labels, series } from '../../api/queries.ts';
import type { Point, Series } from '../../api/types.ts';
import { change } from '../../state/location.ts';
import { useMayViews, useQuery, useSettled } from '../../state/responses.ts';
import { linkHere, linkTo } from '../../state/url.ts';
import { useView } from '../../state/view.ts';
import { Interval, longestBar, Views } from '../../widgets/Interval.tsx';
import { Legend } from '../../widgets/Metric.tsx';
import { Remarks } from '../../widgets/Notice.tsx';
import { number, percent, signed } from '../../widgets/numbers.ts';
import { Panel } from '../../widgets/Panel.tsx';
import { Table, type Column } from '../../widgets/Table.tsx';
import { inUnit, ofPage, scaleOf, unitTitle } from '../../widgets/unit.ts';
import { Text } from '../parts/names.tsx';
import { BrowserVersions } from './BrowserVersions.tsx';

/** The labels that are shown first, in this order. */
const first = ['device', 'browser', 'connection', 'release'];

/** The page about slow devices, browsers and connections. */
export function Audience() {
  const { place, selection } = useView();
  const whole = useQuery(series(selection, { step: 'all' }));
  const settled = useSettled();
  const known = useQuery(settled ? labels(selection) : undefined);
  const point = whole.response?.groups[0]?.points[0];
  const more = place.params.getAll('by').filter((key) => !first.includes(key));
  const others = (known.response?.labels ?? [])
    .map(({ key }) => key)
    .filter((key) => ![...first, ...more].includes(key));
  return (
    <div class="page">
      <header class="title">
        <h1>Audience</h1>
        {others.length > 0 && (
          <label class="actions">
            Also by{' '}
            <select value="" onChange={(event) => change({ by: [...more, event.currentTarget.value] })}>
              <option value="">label…</option>
              {others.map((key) => (
                <option key={key} value={key}>
                  {key}
                </option>
              ))}
            </select>
          </label>
        )}
      </header>
      <div class="grid">
        {[...more, ...first].map((key) => (
          <ByLabel key={key} label={key} whole={point} />
        ))}
      </div>
      <BrowserVersions />
      <Legend
        terms={[
          ['p75', 'p75'],
          ['Mean', 'perView'],
          ['±', 'interval'],
          ['Time per day', 'userHours'],
        ]}
      />
    </div>
  );
}

function ByLabel({ label, whole }: { label: string; whole?: Point }) {
  const { selection } = useView();
  const query = series(selection, { step: 'all', group_by: label });
  const shown = useQuery(query);
  return (
    <Panel title={`By ${label}`} query={query} shown={shown}>
      {(response) => (
        <>
          <Groups response={response} label={label} whole={whole} />
          <Remarks noSpread={response.no_spread} stats={response.stats} />
        </>
      )}
    </Panel>
  );
}

interface Row extends Point {
  value: string;
}

function Groups({ response, label, whole }: { response: Series; label: string; whole?: Point }) {
  const rows = response.groups.flatMap(({ labels, points }) => {
    const point = points[0];
    return point ? [{ ...point, value: labels[label] ?? '' }] : [];
  });
  const all = columns(label, whole, rows);
  const [filter, setFilter] = useState('');
  return (
    <>
      {rows.length > 20 && (
        <input
          type="search"
          placeholder="Filter"
          aria-label={`Filter by ${label}`}
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
      )}
      <Table
        caption={`By ${label}`}
        columns={all}
        rows={rows.filter(({ value }) => value.toLowerCase().includes(filter.toLowerCase()))}
        rowKey={(row) => row.value}
        order="-views"
        empty="No page views have this label."
      />
    </>
  );
}

function columns(label: string, whole: Point | undefined, rows: Row[]): Column<Row>[] {
  const { place, selection, unit } = useView();
  const mayViews = useMayViews();
  const most = longestBar(rows.map(({ mean_ms }) => mean_ms));
  const only = (value: string) => linkHere(place, { label: [...selection.label, `${label}=${value}`] });
  const { page, feature } = selection;
  const single = (value: string) =>
    linkTo(place, 'views', { page, feature, label: [...selection.label, `${label}=${value}`] });
  const own = (row: Row) => scaleOf(unit, row, whole ? ofPage(whole) / 1000 / Math.max(1, row.views) : 0);
  return [
    {
      key: 'name',
      title: label,
      text: true,
      value: (row) => row.value,
      cell: (row) => (
        <a href={only(row.value)}>
          <Text>{row.value || '(none)'}</Text>
        </a>
      ),
    },
    {
      key: 'views',
      title: 'views',
      term: 'views',
      value: (row) => row.views,
      cell: (row) =>
        mayViews ? (
          <a href={single(row.value)} title="Show single page views">
            <Views of={row.views} />
          </a>
        ) : (
          <Views of={row.views} />
        ),
    },
    {
      key: 'part',
      title: 'share of views',
      wide: true,
      value: (row) => row.views,
      cell: (row) => percent(row.views / Math.max(1, whole?.views ?? 0)),
    },
    {
      key: 'p75',
      title: 'p75, ms',
      term: 'p75',
      value: (row) => row.spread?.p75.value,
      cell: (row) => (row.spread ? number(row.spread.p75.value) : <span class="quiet">–</span>),
    },
    {
      key: 'mean',
      title: unit == 'ms' ? 'mean, ms' : unitTitle(unit, whole?.people?.per_day ?? false).short,
      term: 'perView',
      value: (row) => inUnit(row.mean_ms, own(row)),
      cell: (row) => (
        <Interval
          of={row.spread?.mean ?? { value: row.mean_ms }}
          scale={own(row)}
          views={row.views}
          most={unit == 'ms' ? most : undefined}
        />
      ),
    },
    {
      key: 'excess',
      title: 'vs. all',
      wide: true,
      value: (row) => row.mean_ms - (whole?.mean_ms ?? 0),
      cell: (row) => whole && `${signed(row.mean_ms - whole.mean_ms)} ms`,
    },
  ];
}
