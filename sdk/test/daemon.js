import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { started } from '../../test/chromium/limits.mjs';

const run = promisify(execFile);

/** The root of the repository. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** @type {Promise<string> | undefined} */
let built;

/**
 * Returns the folder of both programs: $PROGRAMS, or a folder that remains, so that the next build
 * is mostly cached.
 */
const build = () =>
  (built ??= (async () => {
    if (process.env.PROGRAMS) return process.env.PROGRAMS;
    const dir = join(root, 'sdk/node_modules/.cache/fieldtrie');
    await run('go', ['build', '-o', dir + '/', './cmd/ingest', './cmd/aggregate'], { cwd: root });
    return dir;
  })());

/**
 * Waits until `get` returns a truthy value, and returns it.
 * @template T
 * @param {string} what for the message on a timeout
 * @param {() => T | Promise<T>} get
 * @param {number} [ms] timeout
 */
export async function until(what, get, ms = 10000) {
  const end = performance.now() + ms;
  for (;;) {
    const value = await get();
    if (value) return value;
    if (performance.now() > end) assert.fail(`${what}: not within ${ms} ms`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** A real daemon with its own data directory. */
export class Daemon {
  /** The first start uses free ports; a restart keeps them. */
  #addresses = ['127.0.0.1:0', '127.0.0.1:0'];
  /** @type {import('node:child_process').ChildProcess | undefined} */
  #process;
  #dir = '';
  #log = '';
  /** @type {string[]} */
  #flags = [];

  /**
   * @param {string[]} flags further flags of ingest; FILE:text in one becomes a file with that text
   */
  static async start(flags = []) {
    const daemon = new Daemon();
    daemon.#dir = await mkdtemp(join(tmpdir(), 'fieldtrie-test-'));
    daemon.#flags = await Promise.all(
      flags.map(async (flag, i) => {
        if (!flag.startsWith('FILE:')) return flag;
        const file = join(daemon.#dir, `file${i}`);
        await writeFile(file, flag.slice(5));
        return file;
      }),
    );
    try {
      await daemon.start();
    } catch (error) {
      await rm(daemon.#dir, { recursive: true });
      throw error;
    }
    return daemon;
  }

  /** The base URL for traces and reports. */
  get collector() {
    return 'http://' + this.#addresses[0];
  }

  /** The address for aggregate. */
  get address() {
    return this.#addresses[1];
  }

  async start() {
    const bin = await build();
    const [listen, query] = this.#addresses;
    const flags = ['--data', join(this.#dir, 'data'), '--listen', listen, '--query-listen', query, ...this.#flags];
    const { child, match } = await started(join(bin, 'ingest'), flags, / public=(\S+) private=(\S+)/, (line) => {
      this.#log += line + '\n';
    });
    this.#process = child;
    this.#addresses = [match[1], match[2]];
  }

  /** Stops the process, but keeps data and addresses for another start. */
  async stop() {
    const child = this.#process;
    if (!child) return;
    this.#process = undefined;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    const slow = setTimeout(() => child.kill('SIGQUIT'), 40_000); // then its stacks are in the log
    const status = await ended;
    clearTimeout(slow);
    assert.equal(status, 0, this.#log);
  }

  async close() {
    await this.stop();
    await rm(this.#dir, { recursive: true });
    assert.doesNotMatch(this.#log, /level=ERROR/);
  }

  /**
   * Runs aggregate and returns what it prints, or '' if there is no data.
   * @param {string[]} args
   */
  async aggregate(...args) {
    const bin = await build();
    try {
      return (await run(join(bin, 'aggregate'), ['--addr', this.address, ...args], { maxBuffer: 2 ** 28 })).stdout;
    } catch (error) {
      if (error.code == 1 && /no (traces|pages|features)/.test(error.stderr)) return '';
      throw error;
    }
  }

  /**
   * Returns a profile, or undefined if there is no data.
   * @param {string[]} args such as '--page', '/feed'
   */
  async profile(...args) {
    const text = await this.aggregate('--format', 'json', ...args);
    return text ? new Profile(JSON.parse(text)) : undefined;
  }

  /** Returns the number of traces by page. */
  async pages() {
    const text = await this.aggregate('--list', 'pages', '--format', 'json');
    /** @type {{value: string, traces: number}[]} */
    const rows = text ? JSON.parse(text).values : [];
    return Object.fromEntries(rows.map(({ value, traces }) => [value, traces]));
  }

  /**
   * Returns the Web Vitals of a page, or undefined if there are none. The daemon stores them twice
   * a minute, and when it ends.
   * @param {string} page
   */
  async vitals(page) {
    const text = await this.aggregate('--vitals', '--page', page, '--format', 'json');
    /**
     * @type {{page: string, vitals: {name: string, views: number, page_views: number, p50: {value:
     *   number}}[]}[]}
     */
    const pages = text ? JSON.parse(text).pages : [];
    return pages[0];
  }

  /**
   * Returns how many page views of a page have reported Web Vitals, by arm of the sampling
   * experiment; '' is no arm.
   * @param {string} page
   * @returns {Promise<Record<string, number>>}
   */
  async arms(page) {
    /** @type {{pages: {labels?: {arm?: string}, vitals: {views: number}[]}[]}} */
    const { pages: groups } = JSON.parse(
      await this.get(`/api/v1/vitals?group_by=arm&page=${encodeURIComponent(page)}`),
    );
    return Object.fromEntries(
      groups.map(({ labels, vitals }) => [labels?.arm ?? '', Math.max(...vitals.map(({ views }) => views))]),
    );
  }

  /**
   * Returns a response that includes all acknowledged data.
   * @param {string} path
   */
  get(path) {
    return fetch(`http://${this.address}${path}`, { headers: { 'Cache-Control': 'no-cache' } }).then((answer) =>
      answer.text(),
    );
  }

  /**
   * Returns the value of a metric, or 0 if it is missing.
   * @param {string} series its name, with all labels in alphabetical order
   */
  async metric(series) {
    const line = (await this.get('/metrics')).split('\n').find((line) => line.startsWith(series + ' '));
    return line ? +line.slice(series.length) : 0;
  }

  /**
   * Returns the number of page views of a page with an outcome.
   * @param {string} outcome
   * @param {string} page
   */
  views(outcome, page) {
    return this.metric(`fieldtrie_ingest_page_views_total{outcome="${outcome}",page="${page}"}`);
  }

  /** Returns the number of received traces, each counted once. */
  traces() {
    return this.metric('fieldtrie_ingest_traces_total{result="accepted"}');
  }
}

/** A profile as printed by aggregate --format json, with times in ms. */
export class Profile {
  /** @param {any} json */
  constructor(json) {
    this.functions = json.functions;
    this.coverage = json;
  }

  /** @param {string} name of functions; all functions with it count */
  named(name) {
    return this.functions.filter((f) => f.name == name);
  }

  /**
   * Returns the time of a function including its callees.
   * @param {string} name
   */
  total(name) {
    return this.named(name).reduce((sum, { total_us }) => sum + total_us / 1000, 0);
  }

  get idle() {
    return this.coverage.idle_us / 1000;
  }

  get unsampled() {
    return this.coverage.unsampled_us / 1000;
  }

  /** The total sampled time. */
  get profiled() {
    return (this.coverage.self_us + this.coverage.stackless_us) / 1000;
  }
}
