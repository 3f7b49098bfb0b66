// Detected changes: the list and a single change.

import { changes } from '../../api/queries.ts';
import type { FoundChange } from '../../api/types.ts';
import { useQuery } from '../../state/responses.ts';
import { linkHere, linkTo } from '../../state/url.ts';
import { useView } from '../../state/view.ts';
import { moment } from '../../widgets/numbers.ts';
import { Panel } from '../../widgets/Panel.tsx';
import { Table, type Column } from '../../widgets/Table.tsx';
import { PlaceLink, Text } from '../parts/names.tsx';
import { OneChange } from './OneChange.tsx';
import { amountOf, shownOf, textOf } from './words.ts';

/** The lists by state, and their names. */
const lists = [
  ['open,acknowledged,expected', 'Open'],
  ['resolved', 'Resolved'],
  ['', 'All'],
] as const;

export function ChangesPage() {
  const { place } = useView();
  const id = place.params.get('id');
  return id ? <OneChange id={id} /> : <ChangeList />;
}

function ChangeList() {
  const { place } = useView();
  const chosen = place.params.get('state') ?? lists[0][0];
  const state = chosen == 'all' ? '' : chosen;
  const asked = changes(state);
  const shown = useQuery(asked);
  if (shown.problem?.status == 404) return <Off />;
  return (
    <div class="page">
      <h1>Changes</h1>
      <Panel
        title="Detected changes"
        beside={shown.response?.evaluated && `last checked ${moment(shown.response.evaluated)}`}
        query={asked}
        shown={shown}
      >
        {({ changes: rows, more, evaluated }) => (
          <>
            <p class="row change-lists">
              {lists.map(([value, name]) => (
                <a
                  key={name}
                  href={linkHere(place, { state: value || 'all' })}
                  aria-current={value == state ? 'true' : undefined}
                >
                  {name}
                </a>
              ))}
            </p>
            <Table
              caption="Changes"
              columns={columns}
              rows={rows}
              rowKey={(row) => row.id}
              order="-since"
              rowClass={(row) => (row.direction == 'moved' ? 'faint' : undefined)}
              empty={
                evaluated
                  ? 'No changes match.'
                  : 'Pages have not been evaluated yet. The daemon evaluates them each hour.'
              }
            />
            {more > 0 && <p class="hint">{more} older changes are not shown.</p>}
            <p class="hint">
              The daemon checks after each hour, by release and by day. Time that only moved from one function to
              another is greyed and not notified. <a href="docs/changes.html">How changes are detected</a>
            </p>
          </>
        )}
      </Panel>
    </div>
  );
}

function Off() {
  return (
    <div class="page">
      <h1>Changes</h1>
      <Panel title="Change detection is off">
        <p>
          The daemon was started with <code>--watch=false</code>. Without this flag, it searches each hour for pages,
          features, functions and Web Vitals that became slower or faster.
        </p>
      </Panel>
    </div>
  );
}

const columns: Column<FoundChange>[] = [
  { key: 'what', title: 'what', text: true, wraps: true, value: (row) => textOf(row.what), cell: WhatCell },
  { key: 'direction', title: '', name: 'direction', text: true, wide: true, cell: DirectionCell },
  { key: 'size', title: 'change', value: (row) => Math.abs(shownOf(row.pages[0]!).estimate.value), cell: SizeCell },
  { key: 'page', title: 'page', text: true, wide: true, value: (row) => row.pages[0]!.page, cell: PageCell },
  { key: 'since', title: 'since', text: true, wide: true, value: (row) => row.begin, cell: SinceCell },
  {
    key: 'state',
    title: 'state',
    text: true,
    wide: true,
    value: (row) => row.state,
    cell: ({ state }) => <span class="status">{state}</span>,
  },
];

function DirectionCell({ direction }: FoundChange) {
  return <span class={`status ${direction}`}>{direction}</span>;
}

function WhatCell(row: FoundChange) {
  const { place } = useView();
  const cause = row.causes?.[0];
  return (
    <>
      <a href={linkTo(place, 'changes', { id: row.id })}>
        <Text>{textOf(row.what)}</Text>
      </a>
      {cause && (
        <small class="quiet">
          {' '}
          <Text length={120}>{cause.text}</Text>
        </small>
      )}
      <small class="narrow quiet">
        {row.state} · <Text length={80}>{row.pages[0]!.page}</Text>
        {row.release && (
          <>
            {' '}
            · <Text length={30}>{row.release}</Text>
          </>
        )}
      </small>
    </>
  );
}

function SizeCell(row: FoundChange) {
  const { estimate, atRest } = shownOf(row.pages[0]!);
  return (
    <span class={row.direction == 'moved' ? '' : row.direction}>
      {amountOf(row.what, estimate)}
      {atRest && '†'}
    </span>
  );
}

function PageCell({ pages }: FoundChange) {
  return (
    <>
      <PlaceLink kind="page" name={pages[0]!.page} />
      {pages.length > 1 && <small class="quiet"> and {pages.length - 1} more</small>}
    </>
  );
}

function SinceCell(row: FoundChange) {
  return (
    <>
      {moment(row.begin)}{' '}
      <small class="quiet">
        <Text length={30}>{row.release ?? ''}</Text>
      </small>
    </>
  );
}
