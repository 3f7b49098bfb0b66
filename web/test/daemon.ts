// A real daemon with real traces, and a browser that shows its dashboard.

import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core';
import { launch as start } from '../../test/chromium/launch.mjs';
import { endAfter, started, within } from '../../test/chromium/limits.mjs';

/** The root of the repository: tests run in web/. */
export const root = resolve('..');

let browser: Promise<Browser> | undefined;

/** Returns the browser that all tests of a process share. */
export function launch(): Promise<Browser> {
  return (browser ??= start(chromium));
}

/** Running daemons: a failed test does not stop its own. */
const running = new Set<Daemon>();

endAfter(15 * 60_000); // limits tests that wait without a timeout

/** Stops the browser and all daemons. */
export async function endAll(): Promise<void> {
  endAfter(60_000);
  await (await browser)?.close();
  for (const daemon of running) await daemon.end();
}

/** A program of this repository that `make build` has built. */
const program = (name: string) => join(root, 'bin', name);

/** Runs aggregate and returns what it prints. */
export async function aggregate(...args: string[]): Promise<string> {
  const child = spawn(program('aggregate'), args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  let errors = '';
  child.stdout.on('data', (text) => (out += text));
  child.stderr.on('data', (text) => (errors += text));
  const code = await new Promise((end) => child.on('close', end));
  assert.equal(code, 0, errors);
  return out;
}

/** Runs aggregate --http for files; returns its URL and a function that stops it. */
export async function served(...files: string[]): Promise<{ url: string; end(): void }> {
  const args = ['--http', ':0', '--no-browser', ...files];
  const { child, match } = await started(program('aggregate'), args, /aggregate: serving (http:\S+);/);
  return { url: match[1]!, end: () => child.kill() };
}

/** A trace for a daemon. */
export interface Sent {
  page: string;
  trace: unknown;
  [key: string]: unknown;
}

/** A daemon with a data directory of its own. */
export class Daemon {
  #dir = '';
  #flags: string[] = [];
  #process: ChildProcess | undefined;
  #addresses = ['127.0.0.1:0', '127.0.0.1:0'];

  /** Starts a daemon. FILE:text among the flags becomes the name of a file with this text. */
  static async start(...flags: string[]): Promise<Daemon> {
    const daemon = new Daemon();
    daemon.#dir = await mkdtemp(join(tmpdir(), 'fieldtrie-web-'));
    daemon.#flags = await Promise.all(
      flags.map(async (flag, i) => {
        if (!flag.startsWith('FILE:')) return flag;
        const file = join(daemon.#dir, `file${i}`);
        await writeFile(file, flag.slice(5));
        return file;
      }),
    );
    await daemon.start();
    return daemon;
  }

  /** Restarts it with the same addresses. */
  async start(): Promise<void> {
    const [listen = '', query = ''] = this.#addresses;
    const args = ['--data', join(this.#dir, 'data'), '--listen', listen, '--query-listen', query];
    running.add(this);
    const { child, match } = await started(
      program('ingest'),
      [...args, ...this.#flags],
      /msg=listening public=(\S+) private=(\S+)/,
    );
    this.#process = child;
    this.#addresses = [match[1]!, match[2]!];
  }

  /** The base URL for traces and reports. */
  get collector() {
    return `http://${this.#addresses[0]}`;
  }

  /** The URL of the dashboard. */
  get url() {
    return `http://${this.#addresses[1]}`;
  }

  /** The address for aggregate. */
  get address() {
    return this.#addresses[1]!;
  }

  /** Sends traces. Each must be accepted, and responses include it afterwards. */
  async send(...traces: Sent[]): Promise<void> {
    for (const trace of traces) await this.#post(JSON.stringify(trace), {});
    await this.#rolledUp();
  }

  /**
   * Waits until responses include everything that was accepted. The queries are made by a user if a
   * login is required.
   */
  async #rolledUp() {
    const headers = { 'Cache-Control': 'no-cache', Authorization: `Basic ${btoa('ann:secret')}` };
    const response = await fetch(`${this.url}/api/v1/catalog`, { headers });
    assert.equal(response.status, 200, await response.text());
  }

  /** Sends the repository's sample traces, which are from 20 pages. */
  async sendSamples(): Promise<void> {
    const folder = join(root, 'testdata/traces');
    for (const name of await readdir(folder)) {
      if (name.endsWith('.json.gz')) {
        await this.#post(new Uint8Array(await readFile(join(folder, name))), { 'Content-Encoding': 'gzip' });
      }
    }
    await this.#rolledUp();
  }

  async #post(body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string>) {
    const request = { method: 'POST', body, headers: { 'Content-Type': 'application/json', ...headers } };
    const response = await fetch(this.collector + '/v1/traces', request);
    assert.equal(response.status, 202, await response.text());
  }

  /** Stops the process and keeps its data. */
  async stop(): Promise<void> {
    running.delete(this);
    const child = this.#process;
    if (!child || child.exitCode !== null) return;
    const ended = new Promise((end) => child.on('exit', end));
    child.kill('SIGTERM');
    await within(40_000, 'the end of ingest', ended).finally(() => child.kill('SIGKILL'));
  }

  /** Stops the process and deletes its data. */
  async end(): Promise<void> {
    await this.stop();
    await rm(this.#dir, { recursive: true });
  }
}

/**
 * A tab whose errors fail the test: errors of scripts, console errors, violations of the policy,
 * and requests to other origins.
 */
export class Tab {
  readonly errors: string[] = [];

  private constructor(
    readonly page: Page,
    readonly context: BrowserContext,
    origin: string,
    expected: RegExp,
  ) {
    page.on('pageerror', (error) => this.errors.push(`error: ${error.stack ?? error.message}`));
    page.on('console', (message) => {
      if (message.type() == 'error' && !expected.test(message.text())) this.errors.push(`console: ${message.text()}`);
    });
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(origin) && !/^(data|blob|about):/.test(url) && !expected.test(`request: ${url}`))
        this.errors.push(`request: ${url}`);
    });
  }

  /** Opens a page of a daemon. Expected console errors, as with a stopped daemon, do not count. */
  static async open(origin: string, path: string, options: BrowserContextOptions = {}, expected = /^$/): Promise<Tab> {
    const context = await (
      await launch()
    ).newContext({
      viewport: { width: 1280, height: 900 },
      locale: 'en-GB',
      timezoneId: 'UTC',
      ...options,
    });
    const tab = new Tab(await context.newPage(), context, origin, expected);
    await tab.page.goto(`${origin}/${path}`);
    return tab;
  }

  /** Waits until all queries have responses and these are drawn. */
  async settled(): Promise<void> {
    await this.page.waitForLoadState('networkidle');
    await this.page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  }

  /** Closes it and fails if there were errors. */
  async close(): Promise<void> {
    await this.context.close();
    assert.deepEqual(this.errors, []);
  }
}
