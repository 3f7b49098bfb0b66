import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Metrics } from '../src/api/metrics.ts';
import type { Cost, CostDifference } from '../src/api/types.ts';
import { intervalOf, rowsOf } from '../src/pages/health/Cost.tsx';
import { checksOf, inBucket, refusalsOf } from '../src/pages/health/checks.ts';
import { verdictOf } from '../src/pages/health/Health.tsx';

const text = `# HELP x Something.
# TYPE x counter
x_total{code="200",path="/a"} 3
x_total{code="500",path="/a"} 1
x_total{code="200",path="quote \\" comma , line \\n end"} 4 1700000000
plain 1.5e+06
seconds_bucket{path="/a",le="0.1"} 10
seconds_bucket{path="/a",le="0.5"} 30
seconds_bucket{path="/a",le="+Inf"} 40
seconds_count{path="/a"} 40
this is no sample
`;

test('metrics are parsed with their labels', () => {
  const metrics = new Metrics(text);
  assert.equal(metrics.sum('plain'), 1.5e6);
  assert.equal(metrics.sum('x_total'), 8);
  assert.equal(metrics.sum('x_total', { path: '/a', code: '500' }), 1);
  assert.deepEqual(
    [...metrics.by('x_total', 'path')],
    [
      ['/a', 4],
      ['quote " comma , line \n end', 4],
    ],
  );
  assert.equal(metrics.sum('nothing'), 0);
  assert.equal(metrics.has('nothing'), false);
});

test('quantiles are computed as in Prometheus', () => {
  const metrics = new Metrics(text);
  assert.equal(metrics.quantile('seconds', 0.25), 0.1);
  assert.equal(metrics.quantile('seconds', 0.5), 0.1 + 0.4 * (10 / 20));
  assert.equal(metrics.quantile('seconds', 0.99), 0.5, 'the last bound that is known');
  assert.equal(metrics.quantile('seconds', 0.5, { path: '/b' }), undefined);
});

/** Metrics of a healthy daemon, with additions. */
const daemon = (more: string) =>
  new Metrics(`fieldtrie_store_free_bytes 1e10\nfieldtrie_store_needed_bytes 1e8\n${more}`);

/** Checks that each metric makes one check fail, with this name and level. */
function checkEach(metrics: (more: string) => Metrics, cases: [string, string, string][]) {
  assert.equal(verdictOf(checksOf(metrics(''))), 'All is well');
  for (const [metric, name, level] of cases) {
    const wrong = checksOf(metrics(metric)).filter(({ level }) => level != 'fine');
    assert.deepEqual(
      wrong.map((check) => [check.name, check.level]),
      [[name, level]],
      metric,
    );
    assert.ok(wrong[0]!.remedy, metric);
  }
}

/** Failures with a directory or a bucket. */
const anywhere: [string, string, string][] = [
  ['fieldtrie_store_queue_traces 14000', 'Writing', 'look'],
  ['fieldtrie_store_refused_traces_total 1', 'Writing', 'look'],
  ['fieldtrie_store_lag_seconds{shard="0"} 1\nfieldtrie_store_lag_seconds{shard="1"} 90', 'Rollups', 'look'],
  ['fieldtrie_store_lag_seconds{shard="1"} 400', 'Rollups', 'act'],
  ['fieldtrie_store_open_hour_seconds{shard="1"} 4000', 'Hourly rollups', 'look'],
  [
    'fieldtrie_ingest_request_seconds_bucket{le="2"} 0\nfieldtrie_ingest_request_seconds_bucket{le="4"} 9',
    'Responses to browsers',
    'look',
  ],
  ['fieldtrie_store_clock_doubted 1', 'Clock', 'act'],
  ['fieldtrie_store_lost_manifests 1', 'Shards', 'act'],
  ['fieldtrie_store_quarantined_segments_total 2', 'Stored traces', 'act'],
  ['fieldtrie_store_unreadable_traces_total 1', 'Received traces', 'act'],
  ['fieldtrie_symbols_damaged 1', 'Symbols', 'act'],
  ['fieldtrie_ingest_script_rejected_total{reason="invalid"} 1', 'Browser script', 'act'],
  ['fieldtrie_brake_rate{page="/feed"} 0', 'Cost', 'look'],
  ['fieldtrie_query_requests_total{code="503",path="/x"} 5', 'Queries', 'look'],
];

test('each failure is shown with its remedy', () => {
  checkEach(daemon, [
    ...anywhere,
    ['fieldtrie_store_stuck 1', 'Writing', 'act'],
    ['fieldtrie_store_refusing_for_space 1', 'Disk', 'act'],
  ]);
  const stuck = new Metrics('fieldtrie_store_stuck 1'); // without metrics of the disk, which does not respond
  assert.equal(inBucket(stuck), false);
  assert.equal(verdictOf(checksOf(stuck)), '1 problem to fix');
});

test('a bucket has other failures', () => {
  checkEach(
    (more) => new Metrics(`fieldtrie_store_shards 8\n${more}`),
    [
      ...anywhere,
      ['fieldtrie_store_silent_seconds 70', 'Bucket', 'act'],
      ['fieldtrie_store_spool_segments 2', 'Spool', 'look'],
      ['fieldtrie_store_clock_offset_seconds -60', 'Clock', 'look'],
      ['fieldtrie_store_clock_offset_seconds -700', 'Clock', 'act'],
    ],
  );
});

test('refused data is listed with the reason, largest number first', () => {
  const refusals = refusalsOf(
    daemon(`fieldtrie_ingest_refused_total{reason="no_space"} 2
fieldtrie_ingest_refused_total{reason="rate"} 0
fieldtrie_ingest_folded_total{what="page"} 5
fieldtrie_ingest_rejected_total{reason="new_reason"} 3`),
  );
  assert.deepEqual(
    refusals.map(({ what, why, number }) => [what, why, number]),
    [
      ['folded into (other)', 'page', 5],
      ['traces', 'new reason', 3],
      ['requests', 'no space', 2],
    ],
  );
  assert.ok(refusals.every(({ remedy }) => remedy));
});

const difference = (what: CostDifference['what'], of: Partial<CostDifference>): CostDifference => ({
  ...{ what, profiled: 1434, control: 1416, value: 18, low: -9, high: 45, status: 'noise' },
  ...of,
});

test('the cost of profiling is shown with its interval', () => {
  const cost: Cost = {
    arms: [
      { arm: 'profiled', views: 2000, page_views: 2000 },
      { arm: 'none', views: 300, page_views: 30_000 },
    ],
    control: 'none',
    fair: true,
    vitals: [
      {
        ...{
          name: 'lcp',
          unit: 'ms',
          profiled_views: 2000,
          control_views: 300,
          matched: 1,
          views_for_one_percent: 14_371,
        },
        differences: [
          difference('p50', {}),
          difference('p75', { relative: { value: 0.013, low: -0.006, high: 0.032 } }),
          difference('p95', {}),
          difference('geomean', { relative: { value: 0.02, low: 0.011, high: 0.029 } }),
          difference('poor', { profiled: 0.0086, control: 0.006, low: -0.0011, high: 0.0063 }),
        ],
      },
      {
        ...{ name: 'cls', unit: 'score', profiled_views: 2000, control_views: 300, matched: 1 },
        differences: [difference('p75', { profiled: 0.01, control: 0, low: 0.001, high: 0.02, status: 'slower' })],
      },
    ],
    stats: { partitions: 0, traces: 0, bytes: 0 },
  };
  assert.deepEqual(rowsOf(cost).map(intervalOf), [
    '−0.6\u00a0% to +3.2\u00a0%',
    '+1.1\u00a0% to +2.9\u00a0%',
    '−0.11 to +0.63 points',
    '0.001 to 0.020',
  ]);
  assert.deepEqual(rowsOf({ ...cost, vitals: [] }), []);
});
