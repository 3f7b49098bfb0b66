// The cost of profiling for visitors: Web Vitals of page views selected for profiling against other
// page views.

import { cost as ask } from '../../api/queries.ts';
import type { Cost, CostDifference, VitalCost } from '../../api/types.ts';
import { useQuery } from '../../state/responses.ts';
import { useView } from '../../state/view.ts';
import type { Term } from '../../widgets/meanings.ts';
import { count, duration, percent, plural, signed, signedPercent } from '../../widgets/numbers.ts';
import { Panel } from '../../widgets/Panel.tsx';
import { Table, type Column } from '../../widgets/Table.tsx';

/** The panel of the selection's cost. */
export function CostPanel() {
  const query = ask(useView().selection);
  return (
    <Panel title="Cost of profiling for visitors" query={query} shown={useQuery(query)}>
      {(response) => <Costs of={response} />}
    </Panel>
  );
}

/** A difference in one Web Vital. */
interface Row {
  vital: VitalCost;
  of: CostDifference;
}

/** Names of the displayed differences. */
const names: Partial<Record<CostDifference['what'], string>> = {
  p75: 'p75',
  geomean: 'geometric mean',
  poor: 'rated poor',
};

/** Returns the displayed differences, in the order of the response. */
export function rowsOf(cost: Cost): Row[] {
  return cost.vitals.flatMap((vital) =>
    vital.differences.filter(({ what }) => names[what]).map((of) => ({ vital, of })),
  );
}

/** Formats a time, a score or a share. */
const amountOf = ({ vital, of }: Row, value: number): string =>
  of.what == 'poor' ? percent(value) : vital.unit == 'score' ? value.toFixed(3) : duration(value);

/** Formats an interval, in percent if possible. */
export function intervalOf({ vital, of }: Row): string {
  if (of.what == 'poor') return `${signed(100 * of.low)} to ${signed(100 * of.high)} points`;
  if (of.relative) return `${signedPercent(of.relative.low)} to ${signedPercent(of.relative.high)}`;
  return vital.unit == 'score'
    ? `${of.low.toFixed(3)} to ${of.high.toFixed(3)}`
    : `${signed(of.low)} to ${signed(of.high)} ms`;
}

const words = { slower: 'slower', faster: 'faster', noise: 'within noise' };
const classes = { slower: 'blown', faster: 'ok', noise: '' };

const columns: Column<Row>[] = [
  {
    key: 'vital',
    title: 'Web Vital',
    text: true,
    cell: ({ vital, of }) => `${vital.name.toUpperCase()} ${names[of.what]}`,
  },
  {
    key: 'status',
    title: 'difference',
    text: true,
    cell: ({ of }) => <span class={`status ${classes[of.status]}`}>{words[of.status]}</span>,
  },
  { key: 'interval', title: '95 % interval', term: 'interval' as Term, cell: intervalOf },
  { key: 'profiled', title: 'profiled', cell: (row) => amountOf(row, row.of.profiled) },
  { key: 'control', title: 'others', cell: (row) => amountOf(row, row.of.control) },
  {
    key: 'needs',
    title: 'needed for ±1 %',
    wide: true,
    cell: ({ vital, of }) =>
      of.what == 'p75' && vital.views_for_one_percent
        ? `${plural(vital.views_for_one_percent, 'page view')} per group`
        : '',
  },
];

/** The differences, or the reasons why there are none. */
export function Costs({ of: cost }: { of: Cost }) {
  const rows = rowsOf(cost);
  return (
    <>
      {cost.unfair && (
        <p>
          <span class="status blown">not fair</span> {cost.unfair}.
        </p>
      )}
      {rows.length > 0 && (
        <>
          <p>
            {cost.arms.map(({ arm, views }) => `${count(views)} ${arms[arm]}`).join(', ')}; compared within the same
            page, time, device, browser and connection.
            {cost.fair == null && ' It is not known whether the draw is fair.'}
          </p>
          <Table
            caption="Cost of profiling"
            columns={columns}
            rows={rows}
            rowKey={({ vital, of }) => vital.name + of.what}
            order=""
          />
        </>
      )}
      {cost.missing?.map((what) => (
        <p key={what} class="empty">
          Not known: {what}.
        </p>
      ))}
    </>
  );
}

const arms = { profiled: 'profiled page views', header: 'others with the header', none: 'others without the header' };
