// The table of the functions of a profile.

import { useMemo, useState } from 'preact/hooks';
import { count, fullPlaceOf, msOf, nameOf, share, shown, signed, time } from '../tree/format.ts';
import { functionsOf, type FunctionSum } from '../tree/functions.ts';
import type { Frame, Tree } from '../tree/tree.ts';
import { Table, type Column } from '../widgets/Table.tsx';

interface Props {
  tree: Tree;
  /** The selected function: an index into the frames of the tree. */
  chosen?: number;
  onChoose(frame: number): void;
}

/** A function with its times in ms per page view. */
interface Row {
  of: Frame;
  frame: number;
  self: number;
  total: number;
  /** Their changes against the other side. */
  selfChange: number;
  totalChange: number;
  /** Share of the total time. */
  share: number;
}

/** A table of the functions that take time, with a filter. */
export function Functions({ tree, chosen, onChoose }: Props) {
  const [filter, setFilter] = useState('');
  const rows = useMemo(() => functionsOf(tree).map((sum) => rowOf(tree, sum)), [tree]);
  const compared = tree.baseTotal != undefined;
  const wanted = filter.toLowerCase();
  const shownRows = useMemo(
    () => rows.filter(({ of }) => `${of.name || '(anonymous)'}\n${of.resource}`.toLowerCase().includes(wanted)),
    [rows, wanted],
  );
  return (
    <section class="panel" aria-labelledby="functions">
      <header>
        <h2 id="functions">Functions</h2>
        <div class="beside">
          <span>{wanted ? `${count(shownRows.length)} of ${count(rows.length)}` : count(rows.length)}</span>{' '}
          <input
            type="search"
            placeholder="Filter"
            aria-label="Filter by name or file"
            value={filter}
            onInput={(event) => setFilter(event.currentTarget.value)}
          />
        </div>
      </header>
      <div class="body">
        <Table
          caption="Functions"
          columns={columnsOf(compared, onChoose)}
          rows={shownRows}
          rowKey={({ frame }) => `${frame}`}
          order={compared ? '-change' : '-self'}
          rowClass={({ frame }) => (frame == chosen ? 'chosen' : undefined)}
          empty={filter ? `Nothing with “${shown(filter, 80)}” in its name or file.` : 'No functions were sampled.'}
        />
      </div>
    </section>
  );
}

function rowOf(tree: Tree, { frame, self, total, baseSelf, baseTotal }: FunctionSum): Row {
  const { views, baseViews } = tree;
  const row = { self: msOf(self, views), total: msOf(total, views) };
  return {
    ...row,
    of: tree.frames[frame]!,
    frame,
    selfChange: row.self - msOf(baseSelf, baseViews),
    totalChange: row.total - msOf(baseTotal, baseViews),
    share: tree.total[0]! > 0 ? self / tree.total[0]! : 0,
  };
}

function columnsOf(compared: boolean, onChoose: (frame: number) => void): Column<Row>[] {
  const name: Column<Row> = {
    key: 'name',
    title: 'function',
    text: true,
    value: ({ of }) => of.name,
    cell: ({ of, frame }) => (
      <button type="button" class="name" title={wholeOf(of)} onClick={() => onChoose(frame)}>
        <bdi>{nameOf(of, 120)}</bdi>
      </button>
    ),
  };
  const place: Column<Row> = {
    key: 'place',
    title: 'location',
    text: true,
    wide: true,
    value: ({ of }) => `${of.resource}:${of.line}:${of.column}`,
    cell: ({ of }) => <bdi class="quiet">{fullPlaceOf(of, 60)}</bdi>,
  };
  const changes: Column<Row>[] = [
    {
      key: 'change',
      title: 'self, change',
      value: (row) => Math.abs(row.selfChange),
      cell: (row) => <Amount ms={row.selfChange} />,
    },
    {
      key: 'all',
      title: 'total, change',
      wide: true,
      value: (row) => Math.abs(row.totalChange),
      cell: (row) => <Amount ms={row.totalChange} />,
    },
  ];
  return [
    name,
    place,
    { key: 'self', title: 'self', term: 'self', value: (row) => row.self, cell: (row) => time(row.self) },
    {
      key: 'total',
      title: 'total',
      term: 'total',
      wide: compared,
      value: (row) => row.total,
      cell: (row) => time(row.total),
    },
    {
      key: 'share',
      title: 'share',
      term: 'share',
      wide: true,
      value: (row) => row.share,
      cell: (row) => share(row.share),
    },
    ...(compared ? changes : []),
  ];
}

/** A change in ms; an increase is slower. */
function Amount({ ms }: { ms: number }) {
  const text = signed(ms);
  const changed = /[1-9]/.test(text);
  return (
    <span class={!changed ? 'quiet' : ms > 0 ? 'slower' : 'faster'}>
      {changed && <span aria-hidden="true">{ms > 0 ? '▲ ' : '▼ '}</span>}
      {text}
    </span>
  );
}

/** Returns the whole name and location, shown on hover. */
function wholeOf(frame: Frame): string {
  return `${nameOf(frame, 20_000)}\n${fullPlaceOf(frame, 4000)}`.trim();
}
