import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { add, differences, expected, json, path, sum } from './outputs.js';

// The command line of the Firefox Profiler runs the profiler's own code, which upgrades a profile
// to its version, and computes call trees and their sums.
const program = createRequire(import.meta.url).resolve('@firefox-devtools/profiler-cli');
const sessions = mkdtempSync(join(tmpdir(), 'fieldtrie-firefox-'));

const run = (...args) =>
  execFileSync(process.execPath, [program, ...args, '--session', 'test'], {
    env: { ...process.env, PROFILER_CLI_SESSION_DIR: sessions },
    encoding: 'utf8',
  });
const query = (...args) => JSON.parse(run(...args, '--json'));

/**
 * The command line waits only half a second for its server to start, which can be too short on a
 * busy machine. In later tries, the server has been read from disk.
 */
function load(tries = 10) {
  try {
    run('load', path('timed.firefox.json'));
  } catch (error) {
    const pid = /may still be running as pid (\d+)/.exec(error.stderr)?.[1];
    if (!pid || tries == 1) throw error;
    process.kill(Number(pid));
    load(tries - 1);
  }
}

before(() => load());
after(() => {
  execFileSync(process.execPath, [program, 'stop', 'test'], {
    env: { ...process.env, PROFILER_CLI_SESSION_DIR: sessions },
  });
  rmSync(sessions, { recursive: true, force: true });
});

test('both threads exist', () => {
  const names = query('thread', 'list').threads.map((thread) => thread.name);
  assert.deepEqual(names, ['CrRendererMain', 'DedicatedWorker thread']);
});

test('functions have the expected self times', () => {
  const { functions, weightType } = query('thread', 'functions', '--thread', 't-0');
  assert.equal(weightType, 'tracing-ms');
  const self = {};
  for (const f of functions) add(self, f.name, f.selfSamples * 1000);
  assert.deepEqual(differences(self, expected.timed.functions, 0.01), []);
});

test('the call tree has the total time', () => {
  const { regularCallTree: tree } = query('thread', 'samples-top-down', '--thread', 't-0');
  assert.ok(Math.abs(tree.totalSamples * 1000 - expected.timed.self) < 0.01, `${tree.totalSamples}`);
  assert.ok(Math.abs(sum(tree.children.map((child) => child.totalSamples)) - tree.totalSamples) < 0.01);
});

test('the range covers the calls', () => {
  const { samples } = json('timed.firefox.json').threads[0];
  assert.equal(samples.time[0], 0);
  assert.ok(Math.abs(samples.time.at(-1) * 1000 - expected.timed.span) < 0.01);
});
