// The changes of a comparison, by status.

import { useState } from 'preact/hooks';
import type { Change, Comparison, FeatureChange, FunctionChange, Status } from '../../api/types.ts';
import { Legend } from '../../widgets/Metric.tsx';
import { count, number, percent, plural, signed, signedPercent } from '../../widgets/numbers.ts';
import { Table, type Column } from '../../widgets/Table.tsx';
import { FunctionLink, Text, whereOf } from '../parts/names.tsx';
import { between, folds, notEdited } from './verdict.ts';

const statuses: readonly Status[] = [
  'slower',
  'new',
  'faster',
  'gone',
  'moved',
  'with the page',
  'within noise',
  'not known',
  'too few views',
];

/** Statuses that are hidden at first. */
const folded: readonly Status[] = ['with the page', 'within noise', 'not known', 'too few views'];

/** A table of changes, with a switch for each status. */
export function Changes({ of, by }: { of: Comparison; by?: string }) {
  const [chosen, setChosen] = useState<readonly Status[]>(statuses.filter((status) => !folded.includes(status)));
  const number_ = (status: Status) => of.functions.filter((one) => one.status == status).length;
  const there = statuses.filter((status) => number_(status) > 0);
  const { not_edited } = of;
  const [all, setAll] = useState(false);
  const rows = of.functions.filter((one) => chosen.includes(one.status) && (all || !folds(of, one)));
  const toggle = (status: Status) =>
    setChosen(chosen.includes(status) ? chosen.filter((one) => one != status) : [...chosen, status]);
  const unadjusted = rows.some((row) => row.unadjusted);
  const beside = rows.some((row) => row.at_equal_rest);
  return (
    <>
      <div class="row" role="group" aria-label="Shown changes">
        {there.map((status) => (
          <label key={status} class="toggle">
            <input type="checkbox" checked={chosen.includes(status)} onChange={() => toggle(status)} />
            <span class={`status ${status.replaceAll(' ', '-')}`}>{status}</span> {count(number_(status))}
          </label>
        ))}
        {not_edited && (
          <label class="toggle">
            <input type="checkbox" checked={all} onChange={() => setAll(!all)} />
            <span>not edited</span> {count(not_edited.functions)}
          </label>
        )}
      </div>
      <Table
        caption="Changes"
        columns={columns(
          by,
          of.functions.some(({ code }) => code),
        )}
        rows={rows}
        rowKey={(row) => `${row.name}\n${row.resource}\n${row.line}:${row.column}\n${row.status}`}
        order="-size"
        rowClass={(row) => (folded.includes(row.status) ? 'faint' : undefined)}
        empty={of.enough ? 'No significant changes.' : 'Not known yet.'}
      />
      {not_edited && of.enough && <p class="hint">{notEdited(not_edited)}</p>}
      {unadjusted && <p class="hint">* Not adjusted for devices and browsers.</p>}
      {beside && (
        <p class="hint">
          † Adjusted for longer or shorter page views. The unadjusted change (in small type) is within noise.
        </p>
      )}
      {of.rest.functions > 0 && (
        <p class="hint">
          {plural(of.rest.functions, 'more function')} with less time: {number(of.rest.mean_ms.a)} ms in A,{' '}
          {number(of.rest.mean_ms.b)} ms in B ({signed(of.rest.change_ms)} ms).
        </p>
      )}
      <Legend
        terms={[
          ['A, B, change', 'perView'],
          ['Interval', 'corrected'],
          ['Within noise', 'noise'],
          ['With the page', 'withPage'],
          ['Reach', 'reach'],
        ]}
      />
    </>
  );
}

/** The columns of all changes. */
function changeColumns<R extends Change & { unadjusted?: boolean }>(): Column<R>[] {
  return [
    {
      key: 'a',
      title: 'A, ms',
      term: 'perView',
      wide: true,
      value: (row) => row.mean_ms.a,
      cell: (row) => number(row.mean_ms.a),
    },
    {
      key: 'b',
      title: 'B, ms',
      term: 'perView',
      wide: true,
      value: (row) => row.mean_ms.b,
      cell: (row) => number(row.mean_ms.b),
    },
    {
      key: 'size',
      title: 'change, ms',
      value: (row) => Math.abs(row.change_ms.value),
      cell: (row) => <Amount of={row} />,
    },
    {
      key: 'interval',
      title: 'interval',
      term: 'corrected',
      wide: true,
      cell: (row) => (
        <>
          {row.change_ms.low == undefined ? <span class="quiet">not known</span> : between(row.change_ms)}
          {row.plain_change_ms && (
            <small class="quiet">
              {' '}
              unadjusted {signed(row.plain_change_ms.value)} ({between(row.plain_change_ms)})
            </small>
          )}
        </>
      ),
    },
    {
      key: 'relative',
      title: 'change, %',
      wide: true,
      value: (row) => row.relative,
      cell: (row) => (row.relative == undefined ? <span class="quiet">–</span> : signedPercent(row.relative)),
    },
  ];
}

function Amount({ of }: { of: Change & { unadjusted?: boolean } }) {
  const { value } = of.change_ms;
  const sure = ![...folded, 'moved'].includes(of.status);
  return (
    <span class={!sure ? '' : value > 0 ? 'slower' : 'faster'}>
      {sure && value != 0 && <span aria-hidden="true">{value > 0 ? '▲ ' : '▼ '}</span>}
      {signed(value)}
      {of.unadjusted && '*'}
      {of.at_equal_rest && '†'}
    </span>
  );
}

function columns(by: string | undefined, builds: boolean): Column<FunctionChange>[] {
  const code: Column<FunctionChange> = {
    key: 'code',
    title: 'code',
    term: 'code',
    text: true,
    wide: true,
    value: (row) => row.code ?? '',
    cell: (row) => row.code ?? <span class="quiet">not known</span>,
  };
  return [
    {
      key: 'name',
      title: by ?? 'function',
      text: true,
      wraps: true,
      value: (row) => row.name,
      cell: (row) => (
        <>
          {by ? <Text>{row.name}</Text> : <FunctionLink of={row} href={row.source_url} />}
          {row.from && (
            <small class="quiet">
              {' '}
              formerly <Text>{`${row.from.name == row.name ? '' : row.from.name} ${whereOf(row.from)}`.trim()}</Text>
            </small>
          )}
        </>
      ),
    },
    { key: 'status', title: 'status', text: true, value: (row) => statuses.indexOf(row.status), cell: StatusCell },
    ...(builds ? [code] : []),
    ...changeColumns<FunctionChange>(),
    {
      key: 'share',
      title: 'share of change',
      wide: true,
      value: (row) => row.share,
      cell: (row) => (row.share == undefined ? <span class="quiet">–</span> : percent(row.share)),
    },
    {
      key: 'reach',
      title: 'reach, A → B',
      term: 'reach',
      wide: true,
      value: (row) => row.reach.b,
      cell: (row) => `${count(row.reach.a)} → ${count(row.reach.b)}`,
    },
  ];
}

function StatusCell(row: Change) {
  return <span class={`status ${row.status.replaceAll(' ', '-')}`}>{row.status}</span>;
}

/** A table of the changes of features. */
export function FeatureChanges({ of }: { of: Comparison }) {
  const all: Column<FeatureChange>[] = [
    {
      key: 'name',
      title: 'feature',
      text: true,
      value: (row) => row.name,
      cell: (row) => <Text>{row.name || '(no feature)'}</Text>,
    },
    { key: 'status', title: 'status', text: true, value: (row) => statuses.indexOf(row.status), cell: StatusCell },
    ...changeColumns<FeatureChange>(),
  ];
  const rowKey = (row: FeatureChange) => row.name;
  return <Table caption="Changes by feature" columns={all} rows={of.features} rowKey={rowKey} order="-size" />;
}
