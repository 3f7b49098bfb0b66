import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';

/**
 * The folder with the sample traces in every format. OUTPUTS is an existing folder,
 * otherwise the folder is made here and removed after the tests.
 */
export const folder = process.env.OUTPUTS ?? make();

function make() {
  const dir = mkdtempSync(join(tmpdir(), 'fieldtrie-viewers-'));
  after(() => rmSync(dir, { recursive: true, force: true }));
  execFileSync('go', ['run', './test/viewers', dir], { cwd: new URL('../../..', import.meta.url), stdio: 'inherit' });
  return dir;
}

/** @type {(name: string) => string} */
export const path = (name) => join(folder, name);

/** @type {(name: string) => any} */
export const json = (name) => JSON.parse(readFileSync(path(name), 'utf8'));

/**
 * The expected numbers of a viewer, in µs.
 * @type {{
 *   self: number, baseSelf: number, functions: Record<string, number>,
 *   timed: { self: number, span: number, calls: number, functions: Record<string, number> },
 * }}
 */
export const expected = json('expected.json');

/**
 * Adds time to the sum of a function.
 * @param {Record<string, number>} sums by name
 * @param {string} name
 * @param {number} time
 */
export function add(sums, name, time) {
  if (time) sums[name] = (sums[name] ?? 0) + time;
}

/**
 * Describes sums that differ by more than tolerance.
 * @param {Record<string, number>} got by name
 * @param {Record<string, number>} want
 * @param {number} tolerance
 */
export const differences = (got, want, tolerance) =>
  [...new Set([...Object.keys(got), ...Object.keys(want)])]
    .filter((name) => Math.abs((got[name] ?? 0) - (want[name] ?? 0)) > tolerance)
    .map((name) => `${name}: got ${got[name] ?? 0}, want ${want[name] ?? 0}`);

/** @type {(values: Iterable<number>) => number} */
export const sum = (values) => [...values].reduce((a, b) => a + b, 0);
