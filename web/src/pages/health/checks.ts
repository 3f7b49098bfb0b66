// What can be wrong with a daemon, and what to do then: docs/operations.md has the same as alerts.

import { Metrics } from '../../api/metrics.ts';
import { bytes, count, duration, percent } from '../../widgets/numbers.ts';

/** How things stand. */
export type Level = 'fine' | 'look' | 'act';

/** One thing that was looked at. */
export interface Check {
  name: string;
  level: Level;
  /** How things stand, in words. */
  says: string;
  /** What to do, unless it is fine. */
  remedy?: string;
}

/** A number of things of which each is one too many. */
function none(name: string, value: number, [fine, wrong]: [string, string], remedy: string): Check {
  return { name, level: value ? 'act' : 'fine', says: value ? `${count(value)} ${wrong}` : fine, remedy };
}

/** Whether a daemon keeps its traces in a bucket, with other nodes. One with a directory says how much room there is, unless it is stuck. */
export function inBucket(metrics: Metrics): boolean {
  return !metrics.has('fieldtrie_store_free_bytes') && !metrics.sum('fieldtrie_store_stuck');
}

/** Looks at everything that should be looked at. */
export function checksOf(metrics: Metrics): Check[] {
  const place = inBucket(metrics) ? bucket(metrics) : disk(metrics);
  return [...writing(metrics), ...place, clock(metrics), ...data(metrics), script(metrics), cost(metrics), queries(metrics)];
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
        ? `the disk has not answered for ${duration(wait * 1000)}: traces are refused`
        : `${count(queue)} traces wait; ${count(refused)} could not be stored since the start`,
      remedy: stuck ? 'Check the disk: once it answers, the daemon goes on.' : 'What it writes to is slow, full or away. Browsers send again; with a bucket --spool keeps what it does not take.',
    },
    {
      name: 'Rollups',
      level: lag > 300 ? 'act' : lag > 60 ? 'look' : 'fine',
      says: `the oldest trace that is not rolled up has waited for ${duration(lag * 1000)}`,
      remedy: 'Responses lack what waits. The log says what fails. If nothing does, it is too much for the processor: lower the sampling rate, or add nodes to a bucket.',
    },
    {
      name: 'Hours',
      level: open > 3600 ? 'look' : 'fine',
      says: open ? `the oldest that is not closed ended ${duration(open * 1000)} ago` : 'all that are over are closed',
      remedy: 'The log says why. ingest --verify finds objects that are missing or damaged.',
    },
    {
      name: 'Responses to browsers',
      level: slow != undefined && slow > 1 ? 'look' : 'fine',
      says: slow == undefined ? 'no traces since the start' : `99 % within ${duration(slow * 1000)} since the start`,
      remedy: 'What it writes to is slow.',
    },
  ];
}

/** Documents of the browser script, which are all meant to be taken. */
function script(metrics: Metrics): Check {
  const refused = metrics.sum('fieldtrie_ingest_script_rejected_total');
  const taken = metrics.sum('fieldtrie_ingest_traces_total', { result: 'accepted' });
  return {
    name: 'Browser script',
    level: refused > taken / 1000 ? 'act' : refused ? 'look' : 'fine',
    says: refused ? `${count(refused)} of its documents were refused, ${count(taken)} traces taken` : 'none of its documents was refused',
    remedy: 'Its version does not match that of the daemon, or somebody imitates it: the responses (400, 413, 422) say what is wrong.',
  };
}

/** Pages that are profiled less, since that costs visitors too much. */
function cost(metrics: Metrics): Check {
  const rates = [...metrics.by('fieldtrie_brake_rate', 'page')];
  const most = (rate: number) => (rate ? `at most ${percent(rate)} of its page views` : 'no page view');
  return {
    name: 'Cost',
    level: rates.length ? 'look' : 'fine',
    says: rates.length
      ? `profiling costs visitors more than max_cost: ${rates.map(([page, rate]) => `of ${page} ${most(rate)} may be profiled`).join('; ')}`
      : 'no page is profiled less for what that costs visitors',
    remedy: 'Lower the share that your server sends, too. When the cause is gone, set since beside max_cost.',
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
      remedy: 'Check the bucket, and whether this node reaches it. Until it does, traces are refused or go to --spool.',
    },
    {
      name: 'Spool',
      level: spooled ? 'look' : 'fine',
      says: spooled ? `${count(spooled)} segments are only on the disk of this node` : 'nothing is only on the disk of this node',
      remedy: 'The bucket does not take them. Keep this node and its --spool until it does.',
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
      remedy: 'Make room, or lower --max-disk or --retention.',
    },
  ];
}

/** The clock of a machine: that of a bucket is another one. */
function clock(metrics: Metrics): Check {
  const doubted = metrics.sum('fieldtrie_store_clock_doubted') > 0;
  const offset = Math.abs(metrics.sum('fieldtrie_store_clock_offset_seconds'));
  return {
    name: 'Clock',
    level: doubted || offset > 600 ? 'act' : offset > 5 ? 'look' : 'fine',
    says:
      (inBucket(metrics) ? `${duration(offset * 1000)} from the clock of the bucket` : 'that of this machine') +
      (doubted ? ': nothing is closed or deleted by its age' : ''),
    remedy: doubted ? '/readyz says why. Set the clock right; if it is, it is trusted after some hours.' : 'Set the clock of this node. Traces have the right time anyway.',
  };
}

/** What was stored and should be there. */
function data(metrics: Metrics): Check[] {
  return [
    none(
      'Shards',
      metrics.sum('fieldtrie_store_lost_manifests'),
      ['all have their manifest', 'have lost their manifest, and stand still'],
      'Nothing of their pages is shown, rolled up or deleted. ingest --verify --repair brings it back.',
    ),
    none(
      'Stored traces',
      metrics.sum('fieldtrie_store_quarantined_segments_total'),
      ['no segment is known to be damaged', 'segments were damaged and quarantined'],
      'What they had is in no response. The log names them: put them back if there is a sound copy.',
    ),
    none(
      'Received traces',
      metrics.sum('fieldtrie_store_unreadable_traces_total'),
      ['all could be rolled up', 'could not be read, and are in no rollup'],
      'A newer release may have written them: run the same on all nodes.',
    ),
    none(
      'Symbols',
      metrics.sum('fieldtrie_symbols_damaged'),
      ['all can be read', 'files cannot be read'],
      'Upload the builds again.',
    ),
  ];
}

function queries(metrics: Metrics): Check {
  const waiting = metrics.sum('fieldtrie_queries_waiting');
  const failed = ['500', '503', '504'].reduce((sum, code) => sum + metrics.sum('fieldtrie_query_requests_total', { code }), 0);
  const all = metrics.sum('fieldtrie_query_requests_total');
  return {
    name: 'Queries',
    level: waiting > 8 || failed > all / 100 ? 'look' : 'fine',
    says: `${count(failed)} of ${count(all)} failed or took too long; ${count(waiting)} wait now`,
    remedy: 'Query shorter time ranges, or less often.',
  };
}

/** Something that was not kept as it came, since the start. */
export interface Refusal {
  what: string;
  why: string;
  number: number;
  /** What to do about it. */
  remedy: string;
}

const reasons: Record<string, string> = {
  busy: 'The store is behind: check the disk.',
  no_space: 'Make room on the disk.',
  stuck: 'The disk does not answer: healthz says for how long.',
  rate: 'A network sends more than --rate.',
  key_rate: 'A key sends more than its rate.',
  page_rate: 'A page sends more than --page-rate: lower its rate in --sampling.',
};

const folded: Record<string, string> = {
  page: 'A rule for pages is missing (--page-rules).',
  label: 'Something puts identifiers into labels.',
  feature: 'Something puts identifiers into features.',
  release: 'Something puts identifiers into releases.',
  environment: 'Something puts identifiers into environments.',
};

/** Returns what was refused, cut or folded since the start, most first. */
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
  each('fieldtrie_ingest_refused_total', 'reason', 'requests', reasons, 'The responses say more: docs/operations.md.');
  each('fieldtrie_ingest_rejected_total', 'reason', 'traces', reasons, 'The responses say what is wrong with the trace.');
  each('fieldtrie_ingest_folded_total', 'what', 'became (other)', folded);
  each('fieldtrie_access_refused_total', 'reason', 'logins and tokens', {}, 'A token has expired, or somebody is guessing.');
  one('fieldtrie_ingest_cut_traces_total', 'traces cut', 'their samples claim too much time', 'A script that lies, or a clock that jumps.');
  one('fieldtrie_ingest_dropped_spans_total', 'spans', 'too many last at once', 'Close features when they end.');
  one('fieldtrie_ingest_skewed_clocks_total', 'times of traces', 'clocks of browsers are far off', 'The time of arrival is taken. Nothing to do.');
  one('fieldtrie_ingest_feature_rules_skipped_total', 'features of rules', 'they come and go too often', 'Make the rule coarser.');
  one('fieldtrie_ingest_uncounted_tags_total', 'names', 'too many or too long for the lists', 'Mark fewer features in a trace.');
  one('fieldtrie_store_duplicates_total', 'traces', 'there already', 'Browsers sent them again. Nothing to do.');
  one('fieldtrie_sdk_dropped_traces_total', 'traces', 'browsers could not send them', 'Check whether the collector was reachable.');
  one('fieldtrie_connections_closed_total', 'connections', 'too many at once', 'Put a proxy in front, or raise --max-connections.');
  one('fieldtrie_symbols_refused_total', 'uploads of symbols', 'refused', 'The upload program said why.');
  return all.sort((a, b) => b.number - a.number);
}
