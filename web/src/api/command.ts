// Command lines that print the results of a query.

import { urlOf, type Query } from './queries.ts';

/** A query as a command line. */
export interface CommandLine {
  /** The program and purpose, as shown to the user. */
  name: string;
  line: string;
}

/** Quotes a text as one word for a shell. */
export function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

const selecting = ['page', 'feature', 'release', 'label', 'since', 'until'];
const changing = selecting.map((key) => `compare_${key}`);

/** Flags of aggregate by parameter of a path, without the selection. */
type Flags = Record<string, string>;

const comparing: Flags = { min_views: '--min-views', method: '--compare-method' };

/** Arguments of aggregate, and its flags for parameters, by path of the API. */
const asAggregate: Record<string, { words: string[]; flags?: Flags }> = {
  pages: { words: ['--list', 'pages'] },
  features: { words: ['--list', 'features'] },
  releases: { words: ['--list', 'releases'] },
  coverage: { words: ['--list', 'coverage'] },
  series: { words: ['--series'], flags: { step: '--step', group_by: '--group-by', limit: '--rows' } },
  stats: { words: ['--stats'] },
  vitals: { words: ['--vitals'] },
  cost: { words: ['--cost'] },
  top: { words: ['--format', 'top'], flags: { limit: '--rows' } },
  tree: { words: ['--format', 'tree'] },
  callers: { words: ['--format', 'tree'] },
  callees: { words: ['--format', 'tree'] },
  changes: { words: ['changes'], flags: { state: '--state' } },
  compare: { words: ['--rows', '-1'], flags: comparing },
};

/** The function of a query for callers or callees, as aggregate prints it. */
function functionOf({ params }: Query<unknown>): string {
  const [name = '', resource = '', line, column] = ['name', 'resource', 'line', 'column'].map(
    (key) => params.get(key) ?? '',
  );
  const place = line ? `${resource}:${line}${column ? `:${column}` : ''}` : resource;
  return `${name || '(anonymous)'}${place && ` (${place})`}`;
}

/**
 * Returns the command line of aggregate with the same result; undefined if there is none, as for a
 * subtree.
 */
function aggregateLine(query: Query<unknown>, host: string): string | undefined {
  const own = asAggregate[query.path];
  if (!own || query.params.has('root')) return undefined;
  const words = ['aggregate', '--addr', host];
  const flags: Flags = { by: '--by', only: '--only', ...own.flags };
  for (const key of [...selecting, ...changing]) flags[key] = `--${key.replace('_', '-')}`;
  for (const key of [...selecting, ...changing, 'by', 'only', ...Object.keys(own.flags ?? {})]) {
    for (const value of query.params.getAll(key)) words.push(flags[key]!, value);
  }
  if (query.path == 'callers' || query.path == 'callees') words.push(`--${query.path}`, functionOf(query));
  return [...words, ...own.words].map(quoted).join(' ');
}

/**
 * Returns the parameters of a profile for the selection of a query, or for one side of a
 * comparison.
 */
function profileUrl(query: Query<unknown>, base: string, other: boolean): string {
  const params = new URLSearchParams();
  for (const key of [...selecting, 'by', 'only']) {
    const compared = query.params.getAll(`compare_${key}`);
    const values = other && compared.length ? compared : query.params.getAll(key);
    for (const value of values) params.append(key, value);
  }
  return `${base}pprof/profile?${params}`;
}

/** Paths whose numbers come from a profile. pprof shows sums over all page views. */
const profiled = ['top', 'tree', 'compare'];

/** Returns the address of a daemon for --addr. base is the URL of the dashboard's folder. */
function addressOf(base: string): string {
  const host = new URL(base);
  return host.pathname == '/' && host.protocol == 'http:' ? host.host : base.replace(/\/$/, '');
}

/** Returns the command line that erases a page view. */
export function erasing(id: string, base: string): string {
  return ['aggregate', 'delete', '--addr', addressOf(base), '--view', id, '--yes'].map(quoted).join(' ');
}

/**
 * Returns the command lines that print the numbers of a query. base is the URL of the dashboard's
 * folder.
 */
export function commandLines(query: Query<unknown>, base: string): CommandLine[] {
  const lines: CommandLine[] = [];
  const aggregate = aggregateLine(query, addressOf(base));
  if (aggregate) lines.push({ name: 'aggregate', line: aggregate });
  lines.push({ name: 'curl', line: `curl ${quoted(base + urlOf(query))}` });
  if (!profiled.includes(query.path)) return lines;
  const compares = changing.some((key) => query.params.has(key));
  const profile = quoted(profileUrl(query, base, false));
  const against = compares ? `-diff_base ${quoted(profileUrl(query, base, true))} ` : '-http=: ';
  lines.push({ name: 'pprof', line: `go tool pprof ${against}${profile}` });
  return lines;
}
