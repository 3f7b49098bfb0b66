import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { build, copyApp, scriptsOf } from '../build.js';
import { builds } from '../builds.js';
import { site } from '../trace.js';
import { functions } from '../truth/functions.js';

/** Functions of the apps that must have their names with every bundler. */
const own = {
  app: [
    'sortRows',
    'merge',
    'Grid',
    'RowStore.#index',
    'get RowStore.tonnes',
    'useViewport',
    'installListeners',
    'List/useEffect()',
  ],
  vue: ['climateOf', 'Noise.#step', 'rowsInView', 'toTop', 'loadStations', 'watch()'],
};

/**
 * The minimum share of functions with names. Parcel adds two functions for each export, and Next
 * some scripts without a map.
 */
const named = { 'app-parcel': 0.85, 'app-next': 0.85 };
/** Expected warnings of upload. */
const known = { 'app-parcel': ['few-names'], 'app-next': ['few-names', 'no-map'] };

/** Runs a program whose path is in an environment variable. */
async function run(variable, ...args) {
  const program = process.env[variable];
  assert.ok(program, `${variable} must have the path of the program; run make test-bundlers`);
  const { stdout } = await promisify(execFile)(program, args, { maxBuffer: 2 ** 28 });
  return stdout;
}

/** Returns a trace with one sample of each function in a build. */
async function traceOfAll(dist, base = '/') {
  const resources = (await scriptsOf(dist)).map((path) => site + base + path);
  const frames = [];
  for (const [resourceId, url] of resources.entries()) {
    const path = url.slice((site + base).length);
    for (const { name, line, column } of functions(await readFile(join(dist, path), 'utf8'), path)) {
      frames.push({ name, resourceId, line, column });
    }
  }
  const stacks = frames.map((_, frameId) => ({ frameId }));
  const samples = frames.map((_, stackId) => ({ stackId, timestamp: 10 * stackId }));
  return { frames, resources, stacks, samples };
}

for (const which of builds.filter(({ large }) => !large || process.env.ALL)) {
  test(`the maps of ${which.name}`, async (t) => {
    const folder = await copyApp(which, `test-${which.name}`);
    const scratch = await mkdtemp(join(tmpdir(), 'bundlers-'));
    t.after(() => Promise.all([folder, scratch].map((path) => rm(path, { recursive: true }))));
    const dist = await build(which, folder);

    await t.test('upload takes them', async () => {
      const report = JSON.parse(await run('UPLOAD', '--dry-run', '--format', 'json', dist));
      const problems = [...report.problems, ...report.scripts.flatMap(({ problems }) => problems)];
      assert.deepEqual(
        problems.filter(({ kind }) => !known[which.name]?.includes(kind)),
        [],
      );
      const tables = report.scripts.flatMap(({ table }) => table ?? []);
      const all = tables.reduce((sum, { functions }) => sum + functions, 0);
      const share = tables.reduce((sum, { functions, named }) => sum + functions * named, 0) / all;
      assert.ok(share >= (named[which.name] ?? 0.95), `of ${all} functions ${(100 * share).toFixed(1)} % have names`);
    });

    await t.test('functions of the app have their names', async () => {
      const trace = join(scratch, 'trace.json');
      await writeFile(trace, JSON.stringify(await traceOfAll(dist, which.base)));
      const folded = await run('AGGREGATE', '--maps', dist, '--format', 'folded', trace);
      const names = new Set(Array.from(folded.matchAll(/^(.+) \(src\/\S+:\d+:\d+\) \d+$/gm), ([, name]) => name));
      assert.deepEqual(
        own[which.app].filter((name) => !names.has(name)),
        [],
        'without their names',
      );
    });
  });
}
