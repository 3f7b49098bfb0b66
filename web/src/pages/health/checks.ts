// Checks of a daemon, with remedies. docs/alerts.md has the same checks as alerts.

import { Metrics } from '../../api/metrics.ts';
import { bytes, count, duration, percent } from '../../widgets/numbers.ts';

/** The result of a check. */
export type Level = 'fine' | 'look' | 'act';

/** A check with its result. */
export interface Check {
  name: string;
  level: Level;
  /** The result in words. */
  says: string;
  /** The remedy; absent if the level needs none. */
  remedy?: string;
}

/** Returns a check of a number that should be 0. */
function none(name: string, value: number, [fine, wrong]: [string, string], remedy: string): Check {
  return { name, level: value ? 'act' : 'fine', says: value ? `${count(value)} ${wrong}` : fine, remedy };
}

/**
 * Reports whether a daemon stores its traces in a bucket. A daemon with a directory reports its
 * free space, unless the disk hangs.
 */
export function inBucket(metrics: Metrics): boolean {
  return !metrics.has('fieldtrie_store_free_bytes') && !metrics.sum('fieldtrie_store_stuck');
}

/** Returns all checks of a daemon. */
export function checksOf(metrics: Metrics): Check[] {
  const place = inBucket(metrics) ? bucket(metrics) : disk(metrics);
  return [
    ...writing(metrics),
    ...place,
    clock(metrics),
    ...data(metrics),
    script(metrics),
    cost(metrics),
    queries(metrics),
  ];
}

/** Traces until they are stored and rolled up. */
function writing(metrics: Metrics): Check[] {
  const wait = metrics.sum('fieldtrie_store_oldest_wait_seconds');
  const stuck = metrics.sum('fieldtrie_store_stuck') > 0;
  const queue = metrics.sum('fieldtrie_store_queue_traces');
  const refused = metrics.sum('fieldtrie_store_refused_traces_total');
  const most = (name: string) => Math.max(0, ...metrics.by(name, 'shard').values());
  const lag = most('fieldtrie_store_lag_seconds');
  const open = most('fieldtrie_store_open_hour_seconds');
  const slow = metrics.quantile('fieldtrie_ingest_request_seconds', 0.99);
  return [
    {
      name: 'Writing',
      level: stuck ? 'act' : wait > 2 || queue > 12_000 || refused ? 'look' : 'fine',
      says: stuck
        ? `the disk has not responded for ${duration(wait * 1000)}: traces are refused`
        : `${count(queue)} traces are waiting; ${count(refused)} could not be stored since the start`,
      remedy: stuck
        ? 'Check the disk. When it responds, the daemon continues.'
        : 'The disk or bucket is slow, full or unreachable. Browsers retry. With a bucket, --spool keeps traces ' +
          'on the disk meanwhile.',
    },
    {
      name: 'Rollups',
      level: lag > 300 ? 'act' : lag > 60 ? 'look' : 'fine',
      says: `the oldest waiting trace has waited ${duration(lag * 1000)}`,
      remedy:
        'Query results lack waiting traces. The log has the error. If there is none, the CPU is overloaded: ' +
        'lower the sampling rate, or add nodes to a bucket.',
    },
    {
      name: 'Hourly rollups',
      level: open > 3600 ? 'look' : 'fine',
      says: open ? `the oldest unfinished hour ended ${duration(open * 1000)} ago` : 'up to date',
      remedy: 'The log has the reason. ingest --verify finds missing and damaged objects.',
    },
    {
      name: 'Responses to browsers',
      level: slow != undefined && slow > 1 ? 'look' : 'fine',
      says: slow == undefined ? 'no traces since the start' : `p99 ${duration(slow * 1000)} since the start`,
      remedy: 'The disk or bucket is slow.',
    },
  ];
}

/** Traces and reports of the browser script, which should all be accepted. */
function script(metrics: Metrics): Check {
  const refused = metrics.sum('fieldtrie_ingest_script_rejected_total');
  const taken = metrics.sum('fieldtrie_ingest_traces_total', { result: 'accepted' });
  return {
    name: 'Browser script',
    level: refused > taken / 1000 ? 'act' : refused ? 'look' : 'fine',
    says: refused
      ? `${count(refused)} of its requests were refused, ${count(taken)} traces accepted`
      : 'no request was refused',
    remedy:
      'Its version does not match the version of the daemon, or another program imitates it. The responses (400, ' +
      '413, 422) have the error.',
  };
}

/** Pages that are profiled less, because profiling costs visitors too much. */
function cost(metrics: Metrics): Check {
  const rates = [...metrics.by('fieldtrie_brake_rate', 'page')];
  const most = (rate: number) => (rate ? `at most ${percent(rate)}` : 'none');
  return {
    name: 'Cost',
    level: rates.length ? 'look' : 'fine',
    says: rates.length
      ? `profiling costs visitors more than max_cost. Profiled page views: ` +
        rates.map(([page, rate]) => `${most(rate)} of ${page}`).join(', ')
      : 'no page is throttled because of profiling cost',
    remedy: 'Lower the sampling rate of your server, too. When the cause is fixed, set since next to max_cost.',
  };
}

/** The bucket that nodes share. */
function bucket(metrics: Metrics): Check[] {
  const silent = metrics.sum('fieldtrie_store_silent_seconds');
  const spooled = metrics.sum('fieldtrie_store_spool_segments');
  return [
    {
      name: 'Bucket',
      level: silent > 60 ? 'act' : silent > 30 ? 'look' : 'fine',
      says: `last responded ${duration(silent * 1000)} ago`,
      remedy:
        'Check the bucket and the network of this node. Until the bucket responds, traces are refused or go to ' +
        '--spool.',
    },
    {
      name: 'Spool',
      level: spooled ? 'look' : 'fine',
      says: spooled ? `${count(spooled)} segments are only on the disk of this node` : 'empty',
      remedy: 'The bucket does not accept them. Keep this node and its --spool until the spool is empty.',
    },
  ];
}

function disk(metrics: Metrics): Check[] {
  if (!metrics.has('fieldtrie_store_free_bytes')) return [];
  const free = metrics.sum('fieldtrie_store_free_bytes');
  const needed = metrics.sum('fieldtrie_store_needed_bytes');
  const refusing = metrics.sum('fieldtrie_store_refusing_for_space') > 0;
  return [
    {
      name: 'Disk',
      level: refusing ? 'act' : free < 2 * needed ? 'look' : 'fine',
      says: `${bytes(free)} are free; traces are refused below ${bytes(needed)}`,
      remedy: 'Free space, or lower --max-disk or --retention.',
    },
  ];
}

/** The clock of the node, compared with the clock of the bucket. */
function clock(metrics: Metrics): Check {
  const doubted = metrics.sum('fieldtrie_store_clock_doubted') > 0;
  const offset = Math.abs(metrics.sum('fieldtrie_store_clock_offset_seconds'));
  return {
    name: 'Clock',
    level: doubted || offset > 600 ? 'act' : offset > 5 ? 'look' : 'fine',
    says:
      (inBucket(metrics)
        ? `${duration(offset * 1000)} off the clock of the bucket`
        : doubted
          ? 'in doubt'
          : 'in sync') + (doubted ? ': hourly rollups and deletion by age are paused' : ''),
    remedy: doubted
      ? '/readyz has the reason. Correct the clock. If it is already right, the daemon trusts it after three hours.'
      : 'Correct the clock of this node. The times of traces are right in any case.',
  };
}

/** Stored data that must be readable. */
function data(metrics: Metrics): Check[] {
  return [
    none(
      'Shards',
      metrics.sum('fieldtrie_store_lost_manifests'),
      ['no manifest is missing', 'have no manifest and are stopped'],
      'Their pages are not queried, rolled up or deleted. ingest --verify --repair restores the manifest.',
    ),
    none(
      'Stored traces',
      metrics.sum('fieldtrie_store_quarantined_segments_total'),
      ['no damaged segments', 'segments were damaged and quarantined'],
      'Query results lack their traces. The log names the segments. Restore intact copies if you have any.',
    ),
    none(
      'Received traces',
      metrics.sum('fieldtrie_store_unreadable_traces_total'),
      ['all were rolled up', 'could not be decoded and are in no rollup'],
      'A newer release may have written them: run the same release on all nodes.',
    ),
    none(
      'Symbols',
      metrics.sum('fieldtrie_symbols_damaged'),
      ['all files are readable', 'files cannot be read'],
      'Upload the builds again.',
    ),
  ];
}

function queries(metrics: Metrics): Check {
  const waiting = metrics.sum('fieldtrie_queries_waiting');
  const failed = ['500', '503', '504'].reduce(
    (sum, code) => sum + metrics.sum('fieldtrie_query_requests_total', { code }),
    0,
  );
  const all = metrics.sum('fieldtrie_query_requests_total');
  return {
    name: 'Queries',
    level: waiting > 8 || failed > all / 100 ? 'look' : 'fine',
    says: `${count(failed)} of ${count(all)} failed or took too long; ${count(waiting)} are waiting`,
    remedy: 'Query shorter time ranges, or less often.',
  };
}

/** Data that was refused or changed since the start. */
export interface Refusal {
  what: string;
  why: string;
  number: number;
  /** The remedy. */
  remedy: string;
}

const reasons: Record<string, string> = {
  busy: 'The store is overloaded: check the disk.',
  no_space: 'Free space on the disk.',
  stuck: 'The disk does not respond: see /healthz.',
  rate: 'A network sends more than --rate.',
  key_rate: 'A key sends more than its rate.',
  page_rate: 'A page sends more than --page-rate: lower its rate in --sampling.',
};

const folded: Record<string, string> = {
  page: 'Write a rule for these pages (--page-rules).',
  label: 'Labels contain identifiers.',
  feature: 'Names of features contain identifiers.',
  release: 'Names of releases contain identifiers.',
  environment: 'Names of environments contain identifiers.',
};

/** Returns data that was refused, cut or folded since the start, largest number first. */
export function refusalsOf(metrics: Metrics): Refusal[] {
  const all: Refusal[] = [];
  const each = (name: string, label: string, what: string, remedies: Record<string, string>, otherwise = '') => {
    for (const [why, number] of metrics.by(name, label)) {
      if (number) all.push({ what, why: why.replaceAll('_', ' '), number, remedy: remedies[why] ?? otherwise });
    }
  };
  const one = (name: string, what: string, why: string, remedy: string) => {
    const number = metrics.sum(name);
    if (number) all.push({ what, why, number, remedy });
  };
  each(
    'fieldtrie_ingest_refused_total',
    'reason',
    'requests',
    reasons,
    'The responses have the error: docs/operations.md.',
  );
  each('fieldtrie_ingest_rejected_total', 'reason', 'traces', reasons, 'The responses have the error of each trace.');
  each('fieldtrie_ingest_folded_total', 'what', 'folded into (other)', folded);
  each(
    'fieldtrie_access_refused_total',
    'reason',
    'logins and tokens',
    {},
    'A token is out of date, or a client guesses passwords.',
  );
  one(
    'fieldtrie_ingest_cut_traces_total',
    'traces cut',
    'their samples cover too much time',
    'A forged trace, or a clock that jumped.',
  );
  one('fieldtrie_ingest_dropped_spans_total', 'spans', 'too many overlap', 'Close features when they end.');
  one(
    'fieldtrie_ingest_skewed_clocks_total',
    'times of traces',
    'clocks of browsers are far off',
    'The time of arrival is stored instead. No action needed.',
  );
  one(
    'fieldtrie_ingest_feature_rules_skipped_total',
    'features of rules',
    'they start and end too often',
    'Match a function that calls them.',
  );
  one(
    'fieldtrie_ingest_uncounted_tags_total',
    'names',
    'too many or too long for the lists',
    'Mark fewer features in a trace.',
  );
  one('fieldtrie_store_duplicates_total', 'traces', 'stored before', 'Browsers retried them. No action needed.');
  one(
    'fieldtrie_sdk_dropped_traces_total',
    'traces',
    'browsers could not send them',
    'Check whether the collector was reachable.',
  );
  one(
    'fieldtrie_connections_closed_total',
    'connections',
    'too many at the same time',
    'Put a proxy in front, or raise --max-connections.',
  );
  one('fieldtrie_symbols_refused_total', 'uploads of symbols', 'refused', 'The output of upload has the reason.');
  return all.sort((a, b) => b.number - a.number);
}
