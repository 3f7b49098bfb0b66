// Tables of pages or features, each with its numbers and their history.

import { useMemo } from 'preact/hooks';
import type { Budget, List, ListItem, Series } from '../../api/types.ts';
import { useView } from '../../state/view.ts';
import type { Unit } from '../../tree/format.ts';
import { Interval, longestBar, Views } from '../../widgets/Interval.tsx';
import { lineOf } from '../../widgets/lines.ts';
import { count, hours, number, percent, signed } from '../../widgets/numbers.ts';
import { Sparkline, type Sample } from '../../widgets/Sparkline.tsx';
import { Table, type Column } from '../../widgets/Table.tsx';
import { inUnit, scaleOf, unitTitle, type Scale } from '../../widgets/unit.ts';
import { useChart } from '../parts/chart.ts';
import { PlaceLink } from '../parts/names.tsx';
import { changeOfMeans, type MeansChange } from './before.ts';
import { worst } from './budgets.ts';

interface Props {
  kind: 'page' | 'feature';
  list: List;
  /** Total time of the selection. */
  totalUs: number;
  totalViews: number;
  series?: Series;
  /** The list for the previous period. */
  before?: List;
  budgets?: readonly Budget[];
  order: string;
  onOrder?: (order: string) => void;
  /** Whether there are fewer columns, for a page with other contents. */
  short?: boolean;
  filter?: string;
}

interface Row extends ListItem {
  scale: Scale;
  trend: Sample[];
  change?: MeansChange;
  budget?: Budget;
}

/** A table of pages or features. */
export function Places(props: Props) {
  const { kind, list, order, onOrder, short, filter = '' } = props;
  const rows = useRows(props);
  const shown = rows.filter(({ value }) => value.toLowerCase().includes(filter.toLowerCase()));
  const all = columns(props, longestBar(rows.map(({ mean_ms }) => mean_ms)));
  return (
    <>
      <Table
        caption={kind == 'page' ? 'Pages' : 'Features'}
        columns={all.filter((column) => !short || !['p95', 'tasks', 'change', 'budget', 'reach'].includes(column.key))}
        rows={short ? shown.slice(0, 10) : shown}
        rowKey={(row) => row.value}
        order={order}
        onOrder={onOrder}
        empty={filter ? `No ${kind} with “${filter}” in its name.` : `No ${kind}s in this time range.`}
      />
      {!short && list.more ? (
        <p class="hint">{count(list.more)} more are not listed: narrow the time range or the labels.</p>
      ) : null}
    </>
  );
}

function useRows({ kind, list, totalUs, series, before, budgets }: Props): Row[] {
  const { unit } = useView();
  return useMemo(() => {
    const trends = new Map(series?.groups.map((group) => [group.labels[kind] ?? '', group.points]));
    const old = new Map(before?.values.map((item) => [item.value, item]));
    return list.values.map((item) => ({
      ...item,
      scale: scaleOf(unit, item, totalUs / 1000 / Math.max(1, item.views)),
      trend: lineOf(trends.get(item.value) ?? [], list.no_spread ? 'mean' : 'p75'),
      change: changeOfMeans(old.get(item.value), item),
      budget: worst(budgets, kind, item.value),
    }));
  }, [kind, list, totalUs, series, before, budgets, unit]);
}

function columns(props: Props, most: number): Column<Row>[] {
  const { kind, series, list } = props;
  const { unit } = useView();
  const { from, to } = useChart();
  const perDay = list.values.some(({ people }) => people?.per_day);
  return [
    {
      key: 'name',
      title: kind,
      text: true,
      value: (row) => row.value,
      cell: (row) => <PlaceLink kind={kind} name={row.value} />,
    },
    {
      key: 'trend',
      title: 'trend',
      text: true,
      wide: true,
      cell: (row) => series && <Sparkline samples={row.trend} from={from} to={to} name={row.value} />,
    },
    { key: 'views', title: 'views', term: 'views', value: (row) => row.views, cell: (row) => <Views of={row.views} /> },
    ...timeColumns(unit, perDay, most),
    {
      key: 'hours',
      title: unitTitle('hours', perDay).short,
      term: 'userHours',
      wide: true,
      value: peoplesTime,
      cell: (row) => hours(peoplesTime(row)),
    },
    ...moreColumns(props),
  ];
}

/** The columns of times. most is the largest mean, in ms. */
function timeColumns(unit: Unit, perDay: boolean, most: number): Column<Row>[] {
  const text = (value: number | undefined) => (value == undefined ? <span class="quiet">–</span> : number(value));
  return [
    {
      key: 'p75',
      title: 'p75, ms',
      term: 'p75',
      value: (row) => row.spread?.p75.value,
      cell: (row) => text(row.spread?.p75.value),
    },
    {
      key: 'p95',
      title: 'p95, ms',
      term: 'p95',
      wide: true,
      value: (row) => row.spread?.p95.value,
      cell: (row) => text(row.spread?.p95.value),
    },
    {
      key: 'mean',
      title: unit == 'ms' ? 'mean, ms' : unitTitle(unit, perDay).long,
      term: unit == 'ms' ? 'perView' : unit == 'hours' ? 'userHours' : 'share',
      value: (row) => inUnit(row.mean_ms, row.scale),
      cell: (row) => (
        <>
          <Few row={row} />
          <Interval
            of={row.spread?.mean ?? { value: row.mean_ms }}
            scale={row.scale}
            views={row.views}
            most={unit == 'ms' ? most : undefined}
          />
        </>
      ),
    },
    {
      key: 'tasks',
      title: 'long tasks p75',
      term: 'longTasks',
      wide: true,
      value: (row) => row.long_tasks?.p75.value,
      cell: (row) => text(row.long_tasks?.p75.value),
    },
  ];
}

/** Columns that not all lists have. */
function moreColumns({ kind, before, budgets, totalViews }: Props): Column<Row>[] {
  const all: Column<Row>[] = [];
  if (kind == 'feature' && totalViews) {
    all.push({
      key: 'reach',
      title: 'reach',
      term: 'reach',
      wide: true,
      value: (row) => row.views,
      cell: (row) => percent(row.views / totalViews),
    });
  }
  if (before) {
    all.push({
      key: 'change',
      title: 'vs. before',
      term: 'before',
      wide: true,
      value: (row) => row.change?.value,
      cell: (row) => <Delta of={row.change} />,
    });
  }
  if (budgets?.length) {
    all.push({
      key: 'budget',
      title: 'budget',
      text: true,
      value: (row) => row.budget?.status,
      cell: (row) => row.budget && <Status budget={row.budget} />,
    });
  }
  return all;
}

function peoplesTime(row: Row): number {
  return row.people?.hours ?? 0;
}

/** A mark on means that depend on few page views. */
function Few({ row }: { row: Row }) {
  const few = row.spread?.few;
  if (!few) return null;
  const text = `${few.views} page views account for ${percent(few.share)} of the time: use the percentiles`;
  return (
    <abbr class="caution" title={text}>
      !
    </abbr>
  );
}

/** A change of a mean; grey if it may be chance. */
export function Delta({ of }: { of?: MeansChange }) {
  if (!of) return <span class="quiet">–</span>;
  const kind = !of.sure ? 'quiet' : of.value > 0 ? 'slower' : 'faster';
  const text = `95 % interval ${signed(of.low)} to ${signed(of.high)} ms${of.sure ? '' : ': within noise'}`;
  return (
    <span class={kind} title={text}>
      {of.sure && <span aria-hidden="true">{of.value > 0 ? '▲ ' : '▼ '}</span>}
      {signed(of.value)}
      {!of.sure && <span class="hidden"> within noise</span>}
    </span>
  );
}

/** The status of a budget, abbreviated. */
export function Status({ budget }: { budget: Budget }) {
  return <span class={`status ${budget.status.replaceAll(' ', '-')}`}>{budget.status}</span>;
}
