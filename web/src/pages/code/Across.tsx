// A function in different releases, on different pages, and for different devices, browsers and
// connections.

import { catalog, labels, list, top } from '../../api/queries.ts';
import type { Selection } from '../../api/selection.ts';
import type { Place, Top, TopFunction } from '../../api/types.ts';
import { useQuery, useSettled } from '../../state/responses.ts';
import { linkHere } from '../../state/url.ts';
import { useView } from '../../state/view.ts';
import { Interval, longestBar, Views } from '../../widgets/Interval.tsx';
import { releasesOf } from '../../widgets/lines.ts';
import { count, percent } from '../../widgets/numbers.ts';
import { Panel } from '../../widgets/Panel.tsx';
import { Table, type Column } from '../../widgets/Table.tsx';
import { Text } from '../parts/names.tsx';

/** Only this many functions with the most time are searched. */
export const mostFunctions = 1000;
/** Maximum number of rows. */
const mostRows = 6;

/** Kinds of rows. */
const kinds = ['release', 'page', 'device', 'browser', 'connection'] as const;
type Kind = (typeof kinds)[number];

/**
 * Returns a function of a response by its location or, if lines moved, by its name and file if only
 * one function matches.
 */
export function found(response: Top | undefined, place: Place): TopFunction | undefined {
  const near = response?.functions.filter(
    (one) => one.name == place.name && (one.resource ?? '') == (place.resource ?? one.resource ?? ''),
  );
  const same = near?.find((one) => one.line == place.line && one.column == place.column);
  return same ?? (near?.length == 1 ? near[0] : undefined);
}

/** Returns the selection for a release, a page or another value. */
export function narrowed(selection: Selection, kind: Kind, value: string): Selection {
  if (kind == 'release' || kind == 'page') return { ...selection, [kind]: value };
  return { ...selection, label: [...selection.label, `${kind}=${value}`] };
}

interface Row {
  value: string;
  views: number;
  /** Undefined if the function was not found or is not loaded yet. */
  of?: TopFunction;
  arrived: boolean;
}

/** A function by release, page, device, browser or connection. */
export function Across({ of }: { of: Place }) {
  const { place, selection } = useView();
  const kind = kinds.find((one) => one == place.params.get('across')) ?? 'release';
  const values = useValues(kind);
  const responses = Array.from({ length: mostRows }, (_, i) => {
    const value = values[i];
    const query = value == undefined ? undefined : top(narrowed(selection, kind, value), { limit: mostFunctions });
    return useQuery(query); // the number of hooks is constant
  });
  const rows = values.map((value, i) => {
    const { response, old } = responses[i]!;
    return {
      value,
      views: response?.views ?? 0,
      of: old ? undefined : found(response, of),
      arrived: !!response && !old,
    };
  });
  const links = (
    <nav class="segments" aria-label="Compare by">
      {kinds.map((one) => (
        <a
          key={one}
          href={linkHere(place, { across: one == 'release' ? '' : one })}
          aria-current={one == kind ? 'true' : undefined}
        >
          {one}
        </a>
      ))}
    </nav>
  );
  const most = Math.max(0.01, longestBar(rows.map((row) => meanOf(row, 'self')?.value ?? 0)));
  return (
    <Panel title={`By ${kind}`} beside={links}>
      <Table
        caption={`The function by ${kind}`}
        columns={columns(kind, most)}
        rows={rows}
        rowKey={(row) => row.value}
        order=""
        empty="Nothing to compare."
      />
      <p class="hint">
        At most {mostRows} {kind}s: the {kind == 'release' ? 'newest' : 'largest'}. Only the {count(mostFunctions)}{' '}
        heaviest functions are searched.
      </p>
    </Panel>
  );
}

/** Returns the values that have rows. */
function useValues(kind: Kind): string[] {
  const { selection } = useView();
  const settled = useSettled();
  const stored = useQuery(settled && kind == 'release' ? catalog() : undefined);
  const pages = useQuery(kind == 'page' ? list('pages', { ...selection, page: '' }, mostRows) : undefined);
  const keys = useQuery(kind != 'release' && kind != 'page' ? labels(selection, kind) : undefined);
  if (kind == 'release') {
    const names = releasesOf(stored.response, selection.page).map(({ name }) => name);
    return names.slice(-mostRows).reverse();
  }
  if (kind == 'page') return (pages.response?.values ?? []).map(({ value }) => value);
  const values = keys.response?.labels.find(({ key }) => key == kind)?.values ?? [];
  return values.slice(0, mostRows).map(({ value }) => value);
}

function meanOf(row: Row, of: 'self' | 'total') {
  return row.of && { value: row.of[`${of}_us`] / 1000 / Math.max(1, row.views), ...row.of[of]?.mean };
}

function columns(kind: Kind, most: number): Column<Row>[] {
  const { place } = useView();
  const href = (value: string) =>
    kind == 'release' || kind == 'page'
      ? linkHere(place, { [kind]: value })
      : linkHere(place, { label: [...place.params.getAll('label'), `${kind}=${value}`] });
  const cell = (row: Row, of: 'self' | 'total') => {
    const mean = meanOf(row, of);
    if (!mean) return <span class="quiet">{row.arrived ? 'not seen' : '…'}</span>;
    const scale = { unit: 'ms' as const, hoursPerMs: 0, perDay: false, wholeMs: 0 };
    return <Interval of={mean} scale={scale} views={row.views} most={of == 'self' ? most : undefined} />;
  };
  const reach = (row: Row) => row.of && Math.min(1, row.of.reach / Math.max(1, row.views));
  return [
    {
      key: 'value',
      title: kind,
      text: true,
      value: (row) => row.value,
      cell: (row) => (
        <a href={href(row.value)}>
          <Text>{row.value || '(none)'}</Text>
        </a>
      ),
    },
    {
      key: 'self',
      title: 'self, ms',
      term: 'self',
      value: (row) => meanOf(row, 'self')?.value,
      cell: (row) => cell(row, 'self'),
    },
    {
      key: 'total',
      title: 'total, ms',
      term: 'total',
      value: (row) => meanOf(row, 'total')?.value,
      cell: (row) => cell(row, 'total'),
    },
    {
      key: 'reach',
      title: 'reach',
      term: 'reach',
      value: reach,
      cell: (row) => (row.of ? percent(reach(row) ?? 0) : '–'),
    },
    {
      key: 'views',
      title: 'views',
      term: 'views',
      value: (row) => row.views,
      cell: (row) => (row.arrived ? <Views of={row.views} /> : '…'),
    },
  ];
}
