// Tables of functions, or of parts of the code with several functions.

import type { Top, TopFunction } from '../../api/types.ts';
import { useView } from '../../state/view.ts';
import { Interval, longestBar } from '../../widgets/Interval.tsx';
import { NamesRemark, Remarks } from '../../widgets/Notice.tsx';
import { count, hours, number, percent } from '../../widgets/numbers.ts';
import { Table, type Column } from '../../widgets/Table.tsx';
import { inUnit, ofPage, unitTitle, type Scale } from '../../widgets/unit.ts';
import { FunctionLink, Text } from '../parts/names.tsx';

interface Props {
  top: Top;
  scale: Scale;
  /** The kind of row if functions are summed up: file, package or owner. */
  by?: string;
  order?: string;
  onOrder?: (order: string) => void;
  filter?: string;
}

interface Row extends TopFunction {
  selfMs: number;
  totalMs: number;
}

/** A table of the rows with the most time. */
export function Functions({ top, scale, by = 'function', order = '-self', onOrder, filter = '' }: Props) {
  const views = Math.max(1, top.views);
  const rows = top.functions
    .map((one) => ({ ...one, selfMs: one.self_us / 1000 / views, totalMs: one.total_us / 1000 / views }))
    .filter(({ name, resource = '' }) => `${name}\n${resource}`.toLowerCase().includes(filter.toLowerCase()));
  const { count: others, self_us } = top.other_functions;
  return (
    <>
      <Table
        caption={by == 'function' ? 'Functions' : `By ${by}`}
        columns={columns(top, scale, by, longestBar(rows.map((row) => row.selfMs)))}
        rows={rows}
        rowKey={(row) => `${row.name}\n${row.resource}\n${row.line}:${row.column}`}
        order={order}
        onOrder={onOrder}
        empty={filter ? `Nothing with “${filter}” in its name or file.` : 'No functions were sampled.'}
      />
      {others > 0 && (
        <p class="hint">
          {count(others)} more, together {number(self_us / 1000 / views)} ms per page view (
          {percent(self_us / (ofPage(top) || 1))}).
        </p>
      )}
      {by == 'function' && <Remarks noSpread={top.no_spread} stats={top.stats} />}
      {by != 'function' && (
        <p class="hint">Percentiles and intervals are stored for functions only, not for groups of them.</p>
      )}
      <NamesRemark names={top.stats.names} />
    </>
  );
}

function columns(top: Top, scale: Scale, by: string, most: number): Column<Row>[] {
  const { ofFile } = useView();
  const views = ofFile ? Infinity : top.views; // a file is complete, however few views it has
  const unit = scale.unit == 'ms' ? 'ms' : unitTitle(scale.unit, scale.perDay).short;
  const first: Column<Row> = {
    key: 'name',
    title: by,
    text: true,
    value: (row) => row.name,
    cell: (row) => (by == 'function' ? <FunctionLink of={row} href={row.source_url} /> : <Text>{row.name}</Text>),
  };
  const all: Column<Row>[] = [
    first,
    {
      key: 'self',
      title: `self, ${unit}`,
      term: 'self',
      value: (row) => row.selfMs,
      cell: (row) => <Interval of={row.self?.mean ?? { value: row.selfMs }} scale={scale} views={views} most={most} />,
    },
    {
      key: 'total',
      title: `total, ${unit}`,
      term: 'total',
      value: (row) => row.totalMs,
      cell: (row) => <Interval of={row.total?.mean ?? { value: row.totalMs }} scale={scale} views={views} />,
    },
    {
      key: 'share',
      title: 'share',
      term: 'share',
      wide: true,
      value: (row) => row.self_us,
      cell: (row) => percent(row.self_us / (ofPage(top) || 1)),
    },
  ];
  if (by == 'function' && !top.no_spread) {
    all.push({
      key: 'p75',
      title: 'p75 if sampled',
      term: 'p75',
      wide: true,
      value: (row) => row.self?.p75.value,
      cell: (row) => (row.self ? number(row.self.p75.value) : <span class="quiet">–</span>),
    });
  }
  all.push(
    {
      key: 'reach',
      title: 'reach',
      term: 'reach',
      value: (row) => row.reach,
      cell: (row) => percent(Math.min(1, row.reach / Math.max(1, top.views))),
    },
    {
      key: 'hours',
      title: unitTitle('hours', scale.perDay).short,
      term: 'userHours',
      wide: true,
      value: (row) => row.selfMs,
      cell: (row) => hours(inUnit(row.selfMs, { ...scale, unit: 'hours' })),
    },
  );
  // The unit of the other columns needs no column of its own, and files have no days.
  return all.filter(({ key }) => key != scale.unit && !(ofFile && key == 'hours'));
}
