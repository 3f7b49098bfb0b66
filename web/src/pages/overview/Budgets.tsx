// Budgets and their status.

import { budgets, series } from '../../api/queries.ts';
import { rangeOf, selectionOf } from '../../api/selection.ts';
import type { Budget } from '../../api/types.ts';
import { useQuery } from '../../state/responses.ts';
import { linkTo } from '../../state/url.ts';
import { useView } from '../../state/view.ts';
import { Copy } from '../../widgets/Command.tsx';
import { lineOf, type LineName } from '../../widgets/lines.ts';
import { count, duration, moment, number, percent } from '../../widgets/numbers.ts';
import { Panel } from '../../widgets/Panel.tsx';
import { Sparkline } from '../../widgets/Sparkline.tsx';
import { Table, type Column } from '../../widgets/Table.tsx';
import { Text } from '../parts/names.tsx';
import { functionLine, mostFunctions } from './budgets.ts';
import { Status } from './Places.tsx';

const example = `budgets:
  - name: feed stays fast
    owner: team-feed
    page: /feed
    metric: p75
    limit: 250ms
    min_views: 200`;

/** Formats a number in the unit of a budget. */
function inUnitOf({ unit }: Budget, value: number): string {
  return unit == 'percent' ? `${number(value)} %` : unit == 'score' ? number(value) : duration(value);
}

/** The limit of a budget with its unit. */
export function budgetLimit(budget: Budget): string {
  return inUnitOf(budget, budget.limit);
}

/** The value of a budget with its unit. */
export function budgetValue(budget: Budget): string {
  return budget.value ? inUnitOf(budget, budget.value.value) : 'not known';
}

/** Describes the subject of a budget. */
function aboutOf({ page, feature, function: called, code, label = [] }: Budget): string {
  const parts = [
    page && `page ${page}`,
    feature && `feature ${feature}`,
    called && `function ${called.name}`,
    code && `${code.by} ${code.name}`,
    ...label,
  ];
  return parts.filter(Boolean).join(', ') || 'all pages';
}

/** The page of budgets. */
export function BudgetsPage() {
  const shown = useQuery(budgets());
  const none = shown.problem?.status == 404;
  return (
    <div class="page">
      <h1>Budgets</h1>
      {none ? (
        <NoBudgets />
      ) : (
        <Panel
          title="Status of the budgets"
          beside={shown.response && `evaluated ${moment(shown.response.evaluated)}`}
          query={budgets()}
          shown={shown}
        >
          {(response) => <BudgetTable rows={response.budgets} />}
        </Panel>
      )}
    </div>
  );
}

function NoBudgets() {
  return (
    <Panel title="No budgets yet">
      <p>
        A budget limits the time that a page, a feature or a function may take. Budgets are entries in a file, best kept
        in the repository of the code that they limit:
      </p>
      <div class="command">
        <pre tabIndex={0}>{example}</pre>
        <Copy text={example} />
      </div>
      <p>
        Start the daemon with <code>ingest --budgets budgets.yaml</code>: it evaluates them every minute, shows them
        here, and exports them to Prometheus. In CI, <code>aggregate --budgets budgets.yaml</code> exits with status 3
        if a budget is blown.
      </p>
    </Panel>
  );
}

const worstFirst = ['blown', 'error', 'too few views', 'no data', 'ok'];

const columns: Column<Budget>[] = [
  { key: 'name', title: 'budget', text: true, value: (row) => row.name, cell: (row) => <BudgetName budget={row} /> },
  {
    key: 'status',
    title: 'status',
    text: true,
    value: (row) => worstFirst.indexOf(row.status),
    cell: (row) => (
      <>
        <Status budget={row} />
        {row.status == 'blown' && !row.sure && <small> possibly by chance</small>}
      </>
    ),
  },
  {
    key: 'about',
    title: 'applies to',
    text: true,
    wide: true,
    value: aboutOf,
    cell: (row) => <Text>{aboutOf(row)}</Text>,
  },
  {
    key: 'metric',
    title: 'metric',
    text: true,
    wide: true,
    value: (row) => row.metric,
    cell: (row) => `${row.metric}${row.of ? ` of ${row.of.replace('_', ' ')}` : ''}, ${row.since}`,
  },
  { key: 'value', title: 'value', value: (row) => row.value?.value, cell: (row) => <Value budget={row} /> },
  { key: 'limit', title: 'limit', value: (row) => row.limit, cell: budgetLimit },
  {
    key: 'used',
    title: 'limit used',
    wide: true,
    value: (row) => (row.value ? row.value.value / row.limit : undefined),
    cell: (row) => <Used budget={row} />,
  },
  { key: 'history', title: '14 days', wide: true, cell: (row) => <History budget={row} /> },
  { key: 'views', title: 'views', wide: true, value: (row) => row.views, cell: (row) => count(row.views) },
  {
    key: 'owner',
    title: 'owner',
    text: true,
    wide: true,
    value: (row) => row.owner,
    cell: (row) => <Text>{row.owner ?? ''}</Text>,
  },
];

function BudgetTable({ rows }: { rows: Budget[] }) {
  const remarks = rows.filter((row) => row.text || row.warnings?.length);
  return (
    <>
      <Table caption="Budgets" columns={columns} rows={rows} rowKey={(row) => row.name} order="status" />
      {remarks.length > 0 && (
        <div class="remarks" role="note">
          {remarks.map((row) => (
            <p key={row.name}>
              <Text>{row.name}</Text>:{' '}
              <Text length={400}>{[row.text, ...(row.warnings ?? [])].filter(Boolean).join('; ')}</Text>
            </p>
          ))}
        </div>
      )}
    </>
  );
}

function BudgetName({ budget }: { budget: Budget }) {
  const { place } = useView();
  const { page = '', feature = '', since, label = [] } = budget;
  const route = feature ? 'feature' : page && !page.includes('*') ? 'page' : '';
  const name = <Text>{budget.name}</Text>;
  return route ? <a href={linkTo(place, route, { page, feature, since, label })}>{name}</a> : name;
}

function Value({ budget }: { budget: Budget }) {
  const { value } = budget;
  const known = value?.low != undefined && value.high != undefined;
  const text = known ? `95 % interval ${inUnitOf(budget, value.low!)} to ${inUnitOf(budget, value.high!)}` : undefined;
  return <span title={text}>{budgetValue(budget)}</span>;
}

/** Returns the line of a budget in a series; undefined if there is none. */
function lineOfBudget({ metric, of, page = '', function: called, code }: Budget): LineName | undefined {
  if (called || code || page.includes('*')) return undefined;
  if (of == 'long_tasks') return metric == 'p75' ? 'long tasks p75' : undefined;
  return (!of || of == 'time') && (metric == 'p50' || metric == 'p75' || metric == 'p95' || metric == 'mean')
    ? metric
    : undefined;
}

/** The values of a budget over two weeks, with its limit. */
function History({ budget }: { budget: Budget }) {
  const line = lineOfBudget(budget);
  const { page = '', feature = '', label = [] } = budget;
  const selection = { ...selectionOf(new URLSearchParams()), page, feature, label, since: '14d' };
  const called = budget.metric == 'mean' && budget.of == 'self' && !page.includes('*') ? budget.function : undefined;
  const byFunction = called && series(selection, { step: '24h', by: 'function', limit: mostFunctions });
  const { response } = useQuery(byFunction ?? (line && series(selection)));
  if (!line && !called) return <span class="quiet">–</span>;
  if (!response) return null;
  const { from, to } = rangeOf(selection, Date.now());
  const samples = called ? functionLine(response, called) : lineOf(response.groups[0]?.points ?? [], line!);
  return (
    <Sparkline samples={samples} from={from} to={to} name={`${budget.name}, ${line ?? 'mean'}`} limit={budget.limit} />
  );
}

function Used({ budget }: { budget: Budget }) {
  if (!budget.value) return <span class="quiet">–</span>;
  const used = budget.value.value / (budget.limit || 1);
  return (
    <span class="used">
      <svg class={used > 1 ? 'over' : ''} width="66" height="10" viewBox="0 0 66 10" aria-hidden="true">
        <rect y="2" height="6" width={Math.min(used, 1.5) * 44} rx="1" />
        <path d="M44 0V10" />
      </svg>
      {percent(used)}
    </span>
  );
}
