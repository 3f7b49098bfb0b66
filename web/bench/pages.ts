// Pages with real traces: requests, long tasks and memory.

import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { CDPSession, Page } from 'playwright-core';
import { Daemon, Tab, type Sent } from '../test/daemon.ts';
import { sendShop } from '../test/shop.ts';
import type { Figure } from './figure.ts';

const noBudgets = /status of 404/;

const places = [
  '',
  'pages',
  'features',
  'page?page=/cart',
  'page?page=/cart&tab=top',
  'page?page=/cart&view=both',
  'function?page=/cart&name=draw&resource=https://shop.example/app.js&line=7&column=3',
  'compare?release=r2&compare_release=r1',
  'compare?release=r2&compare_release=r1&tab=flame',
  'who',
  'code',
  'budgets',
  'health',
  'page?page=',
  'views?page=/cart',
];

/** Sends the traces of a folder as page views of today. */
async function sendFolder(daemon: Daemon, folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!/\.json(\.gz)?$/.test(name)) continue;
    const bytes = await readFile(join(folder, name));
    const trace = JSON.parse((name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString()) as Sent;
    await daemon.send({ page: trace.page, interval: trace.interval, trace: trace.trace });
  }
}

/**
 * Measures pages, and this many changes of pages, with a daemon that has the traces of a folder and
 * two releases of a shop.
 */
export async function pages(changes: number, folder = '../testdata/traces'): Promise<Figure[]> {
  const daemon = await Daemon.start();
  await sendShop(daemon);
  await sendFolder(daemon, folder);
  const long = await longTasks(daemon);
  const figures = [
    { name: 'web/requests_cold', value: await requests(daemon), unit: '', reach: '<= 6' },
    { name: 'web/tasks_over_100_ms', value: long.filter((ms) => ms > 100).length, unit: '', reach: '0' },
    { name: 'web/longest_task_ms', value: Math.max(0, ...long), unit: 'ms', reach: '<= 100' },
    ...(await growth(daemon, changes)),
  ];
  await daemon.end();
  return figures;
}

/** Counts requests of the first page in a new browser. */
async function requests(daemon: Daemon): Promise<number> {
  const tab = await Tab.open(daemon.url, '', {}, noBudgets);
  await tab.settled();
  const count = await tab.page.evaluate(() => performance.getEntriesByType('resource').length);
  await tab.close();
  return count + 1;
}

/** Returns the durations of tasks over 50 ms, in ms, that started after the first drawing. */
async function longTasks(daemon: Daemon): Promise<number[]> {
  const all: number[] = [];
  for (const place of places) {
    const tab = await Tab.open(daemon.url, place, {}, noBudgets);
    await tab.settled();
    await tab.page.waitForTimeout(500);
    const found = await tab.page.evaluate(
      () =>
        new Promise<number[]>((resolve) => {
          const drawn = performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0;
          const tasks: number[] = [];
          new PerformanceObserver((list) => {
            for (const task of list.getEntries()) if (task.startTime > drawn) tasks.push(task.duration);
          }).observe({ type: 'longtask', buffered: true });
          setTimeout(() => resolve(tasks), 100);
        }),
    );
    for (const ms of found) if (ms > 100) console.error(`a task of ${ms} ms at /${place}`);
    all.push(...found);
    await tab.close();
  }
  return all;
}

/** Memory of scripts, in bytes. */
interface Memory {
  all: number;
  /** V8's compiled code: the more scripts run, the more of them is compiled. */
  compiled: number;
}

/** Returns the memory that is retained after a garbage collection, from a heap snapshot. */
async function memoryOf(session: CDPSession): Promise<Memory> {
  let text = '';
  const collect = ({ chunk }: { chunk: string }) => void (text += chunk);
  session.on('HeapProfiler.addHeapSnapshotChunk', collect);
  await session.send('HeapProfiler.collectGarbage');
  await session.send('HeapProfiler.takeHeapSnapshot', {});
  session.off('HeapProfiler.addHeapSnapshotChunk', collect);
  const { snapshot, nodes } = JSON.parse(text) as {
    snapshot: { meta: { node_fields: string[]; node_types: string[][] } };
    nodes: number[];
  };
  const fields = snapshot.meta.node_fields;
  const [type, size] = [fields.indexOf('type'), fields.indexOf('self_size')];
  const memory = { all: 0, compiled: 0 };
  for (let at = 0; at < nodes.length; at += fields.length) {
    memory.all += nodes[at + size]!;
    if (snapshot.meta.node_types[type]![nodes[at + type]!] == 'code') memory.compiled += nodes[at + size]!;
  }
  return memory;
}

/**
 * Compares memory after some changes of page or selection with memory after 10 changes, on the same
 * page.
 */
async function growth(daemon: Daemon, changes: number): Promise<Figure[]> {
  const tab = await Tab.open(daemon.url, '', {}, noBudgets);
  const session = await tab.context.newCDPSession(tab.page);
  const atOverview = async () => {
    await go(tab.page, 'Overview');
    await choose(tab.page, '24h');
    await tab.settled();
    return memoryOf(session);
  };
  let first: Memory | undefined;
  for (let change = 1; change <= changes; change++) {
    await step(tab.page, change);
    await tab.settled();
    if (change == 10) first = await atOverview();
  }
  const last = await atOverview();
  await tab.close();
  const kept = ({ all, compiled }: Memory) => all - compiled;
  return [
    { name: `web/memory_${changes}_vs_10_changes`, value: last.all / first!.all, unit: 'x', reach: '<= 1.2' },
    { name: 'web/memory_without_code', value: kept(last) / kept(first!), unit: 'x', reach: '<= 1.2' },
  ];
}

/** Opens a page of the navigation. */
function go(page: Page, name: string): Promise<void> {
  return page.getByRole('navigation', { name: 'Pages of the dashboard' }).getByRole('link', { name }).click();
}

/** Selects a time range. */
function choose(page: Page, time: string): Promise<void> {
  const named = { name: time, exact: true };
  return page.getByRole('button', named).or(page.getByRole('link', named)).first().click();
}

const names = ['Pages', 'Who', 'Compare', 'Code', 'Overview', 'Health', 'Features', 'Budgets'];

/** Opens another page or changes the selection by a click. */
async function step(page: Page, change: number): Promise<void> {
  switch (change % 4) {
    case 0:
      return choose(page, change % 8 ? '6h' : '24h');
    case 1:
      return go(page, 'Pages');
    case 2:
      return page.locator('main tbody a').first().click();
    default:
      return go(page, names[change % names.length]!);
  }
}
