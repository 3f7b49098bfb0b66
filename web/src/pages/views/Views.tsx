// Single page views at percentiles of JavaScript time.

import { series, views } from '../../api/queries.ts';
import type { ViewEntry, Views as ViewsResponse } from '../../api/types.ts';
import { useQuery } from '../../state/responses.ts';
import { linkHere, linkTo, type Place } from '../../state/url.ts';
import { useView } from '../../state/view.ts';
import { Histogram } from '../../widgets/Histogram.tsx';
import { Legend } from '../../widgets/Metric.tsx';
import { Remarks } from '../../widgets/Notice.tsx';
import { count, duration, moment, number, plural } from '../../widgets/numbers.ts';
import { Panel } from '../../widgets/Panel.tsx';
import { Table, type Column } from '../../widgets/Table.tsx';
import { PlaceLink, Text } from '../parts/names.tsx';
import { ViewsProblem } from './ViewsProblem.tsx';

/** The choices of page views for the list. */
const choices = [
  ['0.5,0.75,0.95', 'p50 p75 p95'],
  ['0,0.1,0.25,0.5,0.75,0.9,0.95,0.99,1', 'min to max'],
] as const;

/** Returns the quantiles in a URL, in the API's format. */
export function quantilesOf({ params }: Place): string {
  return params.get('quantiles') || choices[0][0];
}

/** Returns the name of a quantile, such as p75; 0 and 1 are min and max. */
export function quantileName(quantile: number): string {
  if (quantile <= 0) return 'min';
  return quantile >= 1 ? 'max' : `p${number(quantile * 100).replace(/\.0+$/, '')}`;
}

export function Views() {
  const { place, selection } = useView();
  const quantiles = quantilesOf(place);
  const query = views(selection, quantiles);
  const shown = useQuery(query);
  const all = series(selection, { step: 'all', histogram: true });
  const whole = useQuery(all);
  const point = whole.response?.groups[0]?.points[0];
  return (
    <div class="page">
      <header class="title">
        <h1>Single page views</h1>
        <span class="quiet">
          {selection.page || selection.feature ? (
            <>
              of <PlaceLink kind={selection.page ? 'page' : 'feature'} name={selection.page || selection.feature} />
            </>
          ) : (
            'of all pages'
          )}
        </span>
        <nav class="segments actions" aria-label="Which page views">
          {choices.map(([value, name], i) => (
            <a
              key={value}
              href={linkHere(place, { quantiles: i ? value : '' })}
              aria-current={value == quantiles ? 'true' : undefined}
            >
              {name}
            </a>
          ))}
        </nav>
      </header>
      <Panel title="Page views at percentiles" query={query} shown={shown}>
        {(response) => <List response={response} />}
      </Panel>
      {shown.problem && <ViewsProblem problem={shown.problem} />}
      {point?.histogram && (
        <Panel title="Distribution of all page views" query={all} shown={whole}>
          {() => <Histogram bars={point.histogram!} spread={point.spread} of="JavaScript per page view" />}
        </Panel>
      )}
      <Legend
        terms={[
          ['p75', 'rank'],
          ['JavaScript', 'viewTime'],
          ['Long tasks', 'longTask'],
        ]}
      />
    </div>
  );
}

function List({ response }: { response: ViewsResponse }) {
  const { place } = useView();
  return (
    <>
      <Table
        caption="Page views"
        columns={columnsOf(place, response.list)}
        rows={response.list}
        rowKey={(row) => String(row.quantile)}
        order="quantile"
        empty="No page view with JavaScript was profiled in this time range."
      />
      {response.list.length > 0 && (
        <p class="hint">
          Selected from {plural(response.views, 'profiled page view')} by JavaScript time. Each is one person’s visit.
        </p>
      )}
      <Remarks stats={response.stats} />
    </>
  );
}

/** Labels with their own columns. */
const known = ['device', 'browser', 'connection'];

/**
 * Returns the labels of a whole visit. The phase is left out, because it is only the phase of the
 * first part.
 */
export function labelsOf({ labels }: Pick<ViewEntry, 'labels'>): [key: string, value: string][] {
  return Object.entries(labels ?? {}).filter(([key]) => key != 'phase');
}

function columnsOf(place: Place, rows: readonly ViewEntry[]): Column<ViewEntry>[] {
  const others = (row: ViewEntry) => labelsOf(row).filter(([key]) => !known.includes(key));
  const label = (key: string): Column<ViewEntry> => ({
    key,
    title: key,
    text: true,
    wide: true,
    value: (row) => row.labels?.[key],
    cell: (row) => <Text length={30}>{row.labels?.[key] ?? '–'}</Text>,
  });
  const all: Column<ViewEntry>[] = [
    {
      key: 'quantile',
      title: 'page view',
      term: 'rank',
      text: true,
      value: (row) => row.quantile,
      cell: (row) => <a href={viewLink(place, row)}>{quantileName(row.quantile)}</a>,
    },
    {
      key: 'time',
      title: 'JavaScript, ms',
      term: 'viewTime',
      value: (row) => row.time_ms,
      cell: (row) => number(row.time_ms),
    },
    {
      key: 'tasks',
      title: 'long tasks',
      term: 'longTask',
      value: (row) => row.long_task_ms,
      cell: (row) => (row.long_task_count ? `${count(row.long_task_count)} · ${duration(row.long_task_ms)}` : 'none'),
    },
    { key: 'when', title: 'received', wide: true, value: (row) => row.received, cell: (row) => moment(row.received) },
    {
      key: 'release',
      title: 'release',
      text: true,
      wide: true,
      value: (row) => row.release,
      cell: (row) => <Text length={30}>{row.release ?? '–'}</Text>,
    },
    ...known.map(label),
    {
      key: 'labels',
      title: 'other labels',
      text: true,
      wide: true,
      cell: (row) => (
        <Text length={60}>
          {others(row)
            .map((pair) => pair.join('='))
            .join(', ') || '–'}
        </Text>
      ),
    },
  ];
  if (rows.some((row) => row.page != rows[0]?.page) || !place.params.get('page')) {
    all.splice(1, 0, {
      key: 'page',
      title: 'first page',
      text: true,
      value: (row) => row.page,
      cell: (row) => <Text length={40}>{row.page}</Text>,
    });
  }
  return all;
}

/** Returns the link to a page view, with the list that it belongs to. */
export function viewLink(place: Place, { id }: ViewEntry): string {
  const get = (key: string) => place.params.get(key) ?? '';
  return linkTo(place, 'view', { page: get('page'), feature: get('feature'), quantiles: get('quantiles'), id });
}
