// The same question for a terminal.

import { urlOf, type Question } from './questions.ts';

/** A question as a command line. */
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

function aggregateLine(question: Question<unknown>, host: string): string | undefined {
  const own = asAggregate[question.path];
  if (!own) return undefined;
  const words = ['aggregate', '--addr', host];
  for (const key of [...selecting, ...changing, 'by', 'only']) {
    for (const value of question.params.getAll(key)) words.push(`--${key.replace('_', '-')}`, value);
  }
  return [...words, ...own].map(quoted).join(' ');
}

/** Returns the parameters of a profile of what a question is about: of one side, if it has two. */
function profileUrl(question: Question<unknown>, base: string, other: boolean): string {
  const params = new URLSearchParams();
  for (const key of [...selecting, 'by', 'only']) {
    const compared = question.params.getAll(`compare_${key}`);
    const values = other && compared.length ? compared : question.params.getAll(key);
    for (const value of values) params.append(key, value);
  }
  return `${base}pprof/profile?${params}`;
}

/** Returns the lines that give the numbers of a question. base is the URL of the dashboard's folder. */
export function commandLines(question: Question<unknown>, base: string): CommandLine[] {
  const host = new URL(base);
  const lines: CommandLine[] = [];
  const address = host.pathname == '/' && host.protocol == 'http:' ? host.host : base.replace(/\/$/, '');
  const aggregate = aggregateLine(question, address);
  if (aggregate) lines.push({ name: 'aggregate', line: aggregate });
  lines.push({ name: 'curl', line: `curl ${quoted(base + urlOf(question))}` });
  if (!asAggregate[question.path]) return lines;
  const compares = changing.some((key) => question.params.has(key));
  const profile = quoted(profileUrl(question, base, false));
  const against = compares ? `-diff_base ${quoted(profileUrl(question, base, true))} ` : '-http=: ';
  lines.push({ name: 'pprof', line: `go tool pprof ${against}${profile}` });
  return lines;
}
