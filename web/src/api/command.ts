// The same query for a terminal.

import { urlOf, type Query } from './queries.ts';

/** A query as a command line. */
export interface CommandLine {
  /** What it is for. */
  name: string;
  line: string;
}

/** Returns a text as one word of a shell. */
export function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** What aggregate is told for each path that it has the numbers of. */
const asAggregate: Record<string, string[]> = {
  pages: ['--list', 'pages'],
  features: ['--list', 'features'],
  releases: ['--list', 'releases'],
  coverage: ['--stats'],
  series: ['--stats'],
  stats: ['--stats'],
  vitals: ['--vitals'],
  top: ['--format', 'top'],
  tree: ['--format', 'tree'],
  callers: ['--format', 'tree'],
  callees: ['--format', 'tree'],
  compare: [],
};

const selecting = ['page', 'feature', 'release', 'label', 'since', 'until'];
const changing = selecting.map((key) => `compare_${key}`);

function aggregateLine(query: Query<unknown>, host: string): string | undefined {
  const own = asAggregate[query.path];
  if (!own) return undefined;
  const words = ['aggregate', '--addr', host];
  for (const key of [...selecting, ...changing, 'by', 'only']) {
    for (const value of query.params.getAll(key)) words.push(`--${key.replace('_', '-')}`, value);
  }
  return [...words, ...own].map(quoted).join(' ');
}

/** Returns the parameters of a profile of what a query is about: of one side, if it has two. */
function profileUrl(query: Query<unknown>, base: string, other: boolean): string {
  const params = new URLSearchParams();
  for (const key of [...selecting, 'by', 'only']) {
    const compared = query.params.getAll(`compare_${key}`);
    const values = other && compared.length ? compared : query.params.getAll(key);
    for (const value of values) params.append(key, value);
  }
  return `${base}pprof/profile?${params}`;
}

/** Returns the lines that give the numbers of a query. base is the URL of the dashboard's folder. */
export function commandLines(query: Query<unknown>, base: string): CommandLine[] {
  const host = new URL(base);
  const lines: CommandLine[] = [];
  const address = host.pathname == '/' && host.protocol == 'http:' ? host.host : base.replace(/\/$/, '');
  const aggregate = aggregateLine(query, address);
  if (aggregate) lines.push({ name: 'aggregate', line: aggregate });
  lines.push({ name: 'curl', line: `curl ${quoted(base + urlOf(query))}` });
  if (!asAggregate[query.path]) return lines;
  const compares = changing.some((key) => query.params.has(key));
  const profile = quoted(profileUrl(query, base, false));
  const against = compares ? `-diff_base ${quoted(profileUrl(query, base, true))} ` : '-http=: ';
  lines.push({ name: 'pprof', line: `go tool pprof ${against}${profile}` });
  return lines;
}
