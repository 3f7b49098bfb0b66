// The functions of one page view, by time, descending.

import { useMemo } from 'preact/hooks';
import { change } from '../../state/location.ts';
import { exactly } from '../../timeline/search.ts';
import { functionsOf } from '../../tree/functions.ts';
import type { Frame, Tree } from '../../tree/tree.ts';
import { count, number, percent } from '../../widgets/numbers.ts';
import { Table, type Column } from '../../widgets/Table.tsx';
import { FunctionLink } from '../parts/names.tsx';

interface Row {
  at: number;
  frame: Frame;
  self: number;
  total: number;
  calls: number;
}

/** A table of functions. Times are ms. */
export function SeenFunctions({ tree }: { tree: Tree }) {
  const rows = useMemo(() => {
    const calls = new Uint32Array(tree.frames.length);
    for (let node = 1; node < tree.frame.length; node++) calls[tree.frame[node]!]!++;
    return functionsOf(tree).map(({ frame, self, total }): Row => {
      return { at: frame, frame: tree.frames[frame]!, self: self / 1000, total: total / 1000, calls: calls[frame]! };
    });
  }, [tree]);
  return (
    <Table
      caption="Functions of this page view"
      columns={columnsOf(tree.total[0]! / 1000)}
      rows={rows}
      rowKey={(row) => String(row.at)}
      order="-self"
      empty="No functions were sampled."
    />
  );
}

function columnsOf(wholeMs: number): Column<Row>[] {
  return [
    {
      key: 'name',
      title: 'function',
      text: true,
      value: (row) => row.frame.name,
      cell: (row) => <FunctionLink of={row.frame} />,
    },
    { key: 'self', title: 'self, ms', term: 'self', value: (row) => row.self, cell: (row) => number(row.self) },
    { key: 'total', title: 'total, ms', term: 'total', value: (row) => row.total, cell: (row) => number(row.total) },
    {
      key: 'share',
      title: 'self, share',
      term: 'share',
      wide: true,
      value: (row) => row.self,
      cell: (row) => percent(wholeMs ? row.self / wholeMs : 0),
    },
    {
      key: 'calls',
      title: 'sampled calls',
      term: 'timesSeen',
      wide: true,
      value: (row) => row.calls,
      cell: (row) => count(row.calls),
    },
    {
      key: 'find',
      title: <span class="hidden">find in the timeline</span>,
      name: 'find in the timeline',
      wide: true,
      cell: (row) =>
        row.frame.name && (
          <button type="button" class="quiet" onClick={() => change({ search: exactly(row.frame.name) }, true)}>
            Find
          </button>
        ),
    },
  ];
}
