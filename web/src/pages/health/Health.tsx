// The health of the daemon: whether it writes, the refused data and reasons, and the profiled share
// of the traffic.

import { useEffect, useMemo, useState } from 'preact/hooks';
import { Metrics } from '../../api/metrics.ts';
import { coverage, metrics as ask } from '../../api/queries.ts';
import type { List } from '../../api/types.ts';
import { useQuery, type Shown } from '../../state/responses.ts';
import { useView } from '../../state/view.ts';
import { ago, bytes, count, duration, number, percent, plural } from '../../widgets/numbers.ts';
import { Panel } from '../../widgets/Panel.tsx';
import { Table, type Column } from '../../widgets/Table.tsx';
import { Text } from '../parts/names.tsx';
import { CostPanel } from './Cost.tsx';
import { checksOf, inBucket, refusalsOf, type Check, type Refusal } from './checks.ts';

/** The interval of queries, in ms. */
const every = 10_000;

/** The page about the daemon. */
export function Health() {
  const { selection } = useView();
  const shown = useQuery(ask(), every);
  const now = useMemo(() => (shown.response == undefined ? undefined : new Metrics(shown.response)), [shown.response]);
  const rates = useRates(now);
  const pages = useQuery(coverage(selection));
  const panel = { query: ask(), shown };
  return (
    <div class="page">
      <h1>Health</h1>
      <Panel title={now ? verdictOf(checksOf(now)) : 'Status'} {...panel}>
        {() => now && <Checks of={checksOf(now)} />}
      </Panel>
      <div class="beside">
        <Panel title="Traffic" {...panel}>
          {() => now && <Traffic now={now} rates={rates} />}
        </Panel>
        <Panel title={now && inBucket(now) ? 'In the bucket' : 'On disk'} {...panel}>
          {() => now && (inBucket(now) ? <Bucket now={now} /> : <Disk now={now} />)}
        </Panel>
      </div>
      <Refusals now={now} shown={shown} />
      <Panel title="Page views without a profile" query={coverage(selection)} shown={pages}>
        {(response) => <Coverage list={response} />}
      </Panel>
      <CostPanel />
      <Panel title="Responses by path" {...panel}>
        {() => now && <Paths now={now} />}
      </Panel>
    </div>
  );
}

/** Returns a sentence about the worst results of checks. */
export function verdictOf(checks: readonly Check[]): string {
  const act = checks.filter(({ level }) => level == 'act').length;
  const look = checks.filter(({ level }) => level == 'look').length;
  if (act) return `${plural(act, 'problem')} to fix`;
  return look ? `${plural(look, 'thing')} to check` : 'All is well';
}

const words = { fine: 'fine', look: 'check', act: 'act now' };

function Checks({ of }: { of: Check[] }) {
  return (
    <ul class="checks">
      {of.map(({ name, level, says, remedy }) => (
        <li key={name}>
          <span class={`status ${level == 'fine' ? 'ok' : level == 'look' ? 'check' : 'blown'}`}>{words[level]}</span>
          <b>{name}</b>
          <span>
            {says}
            {level != 'fine' && remedy && <small>{remedy}</small>}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** The metric that counts stored traces. */
const stored = 'fieldtrie_store_traces_total';

/** Rates between two responses, per second. */
interface Rates {
  traces: number;
  bytes: number;
  /** The duration in ms. */
  over: number;
}

/** Returns the rates over the last minute, or since the page was opened if that is less. */
function useRates(now: Metrics | undefined): Rates | undefined {
  const [seen, setSeen] = useState<{ time: number; metrics: Metrics }[]>([]);
  useEffect(() => {
    if (now) setSeen((before) => [...before.slice(-6), { time: Date.now(), metrics: now }]);
  }, [now]);
  const first = seen[0];
  const last = seen.at(-1);
  if (!first || !last || first == last) return undefined;
  const over = last.time - first.time;
  const change = (name: string) => Math.max(0, (last.metrics.sum(name) - first.metrics.sum(name)) / (over / 1000));
  return { traces: change(stored), bytes: change('fieldtrie_ingest_bytes_total'), over };
}

type Row = readonly [name: string, value: string];

/** Numbers with their names. */
function Numbers({ rows }: { rows: readonly Row[] }) {
  return (
    <dl class="health">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Traffic({ now, rates }: { now: Metrics; rates?: Rates }) {
  const started = now.sum('process_start_time_seconds') * 1000;
  const profiled = now.sum('fieldtrie_sdk_profiled_seconds_total');
  const cost = now.sum('fieldtrie_sdk_seconds_total');
  const quantile = (part: number) => now.quantile('fieldtrie_ingest_request_seconds', part);
  const [median, slow] = [quantile(0.5), quantile(0.99)];
  return (
    <Numbers
      rows={[
        ['Started', started ? `${ago(Date.now() - started)} ago` : 'not known'],
        ['Current rate', rates ? `${number(rates.traces)} traces/s, ${bytes(rates.bytes)}/s` : 'measuring …'],
        ['Traces since the start', count(now.sum(stored))],
        [
          'Responses to browsers',
          median == undefined || slow == undefined
            ? 'none yet'
            : `p50 ${duration(median * 1000)}, p99 ${duration(slow * 1000)}`,
        ],
        ['Cost in browsers', profiled ? `${percent(cost / profiled)} of the profiled time` : 'not known yet'],
        ['Memory of the daemon', bytes(now.sum('process_resident_memory_bytes'))],
      ]}
    />
  );
}

function Disk({ now }: { now: Metrics }) {
  return (
    <Numbers
      rows={[
        ['Traces and rollups', bytes(now.sum('fieldtrie_store_disk_bytes'))],
        [
          'Symbols',
          `${bytes(now.sum('fieldtrie_symbols_bytes'))} of ${plural(now.sum('fieldtrie_symbols_tables'), 'script')}`,
        ],
        ['Free', bytes(now.sum('fieldtrie_store_free_bytes'))],
      ]}
    />
  );
}

/** This node's requests to the bucket. Nodes do not count the objects in it. */
function Bucket({ now }: { now: Metrics }) {
  const requests = [...now.by('fieldtrie_store_requests_total', 'kind')].sort();
  const [hits, misses] = [now.sum('fieldtrie_store_cache_hits_total'), now.sum('fieldtrie_store_cache_misses_total')];
  return (
    <Numbers
      rows={[
        ['Stored by this node', bytes(now.sum('fieldtrie_store_segment_bytes_total'))],
        [
          'Shards rolled up by this node',
          `${count(now.sum('fieldtrie_store_shards'))} of ` +
            `${count(now.by('fieldtrie_store_lag_seconds', 'shard').size)}`,
        ],
        ...requests.map(([kind, sent]): Row => [`Requests: ${kind}`, count(sent)]),
        [
          'Cache hits',
          hits + misses ? `${percent(hits / (hits + misses))} of ${count(hits + misses)}` : 'no lookups yet',
        ],
        [
          'Symbols',
          `${bytes(now.sum('fieldtrie_symbols_bytes'))} of ${plural(now.sum('fieldtrie_symbols_tables'), 'script')}`,
        ],
      ]}
    />
  );
}

const refusalColumns: Column<Refusal>[] = [
  { key: 'what', title: 'data', text: true, value: (row) => row.what, cell: (row) => row.what },
  { key: 'why', title: 'reason', text: true, value: (row) => row.why, cell: (row) => <Text>{row.why}</Text> },
  { key: 'number', title: 'since the start', value: (row) => row.number, cell: (row) => count(row.number) },
  { key: 'remedy', title: 'remedy', text: true, wide: true, cell: (row) => row.remedy },
];

function Refusals({ now, shown }: { now?: Metrics; shown: Shown<string> }) {
  return (
    <Panel title="Refused, cut and folded data" query={ask()} shown={shown}>
      {() =>
        now && (
          <Table
            caption="Refused data"
            columns={refusalColumns}
            rows={refusalsOf(now)}
            rowKey={({ what, why }) => `${what} ${why}`}
            order="-number"
            empty="Nothing since the start."
          />
        )
      }
    </Panel>
  );
}

/** Why page views have no profile, by the outcomes in docs/sdk.md. */
function Coverage({ list }: { list: List }) {
  const sum = list.all;
  if (!sum?.population) return <p class="empty">No page views in this time range.</p>;
  const rows = Object.entries(sum.missing).sort((a, b) => b[1] - a[1]);
  return (
    <>
      <Numbers
        rows={[
          ['Profiled', `${count(sum.views)} of ${count(sum.population)} (${percent(sum.views / sum.population)})`],
          ...rows.map(([why, views]): Row => [why, `${count(views)} (${percent(views / sum.population)})`]),
        ]}
      />
      {sum.missing['lost'] != undefined && (
        <p class="quiet">Lost page views reported Web Vitals and announced a profile that never arrived.</p>
      )}
    </>
  );
}

interface Path {
  path: string;
  all: number;
  failed: number;
  half?: number;
  slow?: number;
}

/** Returns the durations of queries since the start, by path. */
function pathsOf(now: Metrics): Path[] {
  const name = 'fieldtrie_query_requests_total';
  const seconds = 'fieldtrie_query_request_seconds';
  return [...now.by(name, 'path')].map(([path, all]) => ({
    path,
    all,
    failed: ['500', '503', '504'].reduce((sum, code) => sum + now.sum(name, { path, code }), 0),
    half: now.quantile(seconds, 0.5, { path }),
    slow: now.quantile(seconds, 0.99, { path }),
  }));
}

const time = (seconds: number | undefined) => (seconds == undefined ? '–' : duration(seconds * 1000));

const pathColumns: Column<Path>[] = [
  { key: 'path', title: 'path', text: true, value: (row) => row.path, cell: (row) => <Text>{row.path}</Text> },
  { key: 'all', title: 'responses', value: (row) => row.all, cell: (row) => count(row.all) },
  { key: 'failed', title: 'failed', value: (row) => row.failed, cell: (row) => count(row.failed) },
  { key: 'half', title: 'p50', wide: true, value: (row) => row.half, cell: (row) => time(row.half) },
  { key: 'slow', title: 'p99', value: (row) => row.slow, cell: (row) => time(row.slow) },
];

function Paths({ now }: { now: Metrics }) {
  return (
    <Table
      caption="Responses by path"
      columns={pathColumns}
      rows={pathsOf(now)}
      rowKey={({ path }) => path}
      order="-all"
    />
  );
}
