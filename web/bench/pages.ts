// Pages with real traces: requests, long tasks and memory.

import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { Daemon, Tab, type Sent } from '../test/daemon.ts';
import { sendShop } from '../test/shop.ts';
import type { Figure } from './figures.ts';

const noBudgets = /status of 404/;

const places = [
  '', 'pages', 'features', 'page?page=/cart', 'page?page=/cart&tab=top', 'page?page=/cart&view=both',
  'function?page=/cart&name=draw&resource=https://shop.example/app.js&line=7&column=3',
  'compare?release=r2&compare_release=r1', 'compare?release=r2&compare_release=r1&tab=flame', 'who', 'code', 'budgets', 'health', 'page?page=', 'views?page=/cart',
];

/** Sends the traces of a folder: as many page views of today. */
async function sendFolder(daemon: Daemon, folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!/\.json(\.gz)?$/.test(name)) continue;
    const bytes = await readFile(join(folder, name));
    const trace = JSON.parse((name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString()) as Sent;
    await daemon.send({ page: trace.page, interval: trace.interval, trace: trace.trace });
  }
}

/** Measures pages, and so many changes of them, of a daemon with the traces of a folder beside two releases of a shop. */
export async function pages(changes: number, folder = '../testdata/traces'): Promise<Figure[]> {
  const daemon = await Daemon.start();
  await sendShop(daemon);
  await sendFolder(daemon, folder);
  const long = await longTasks(daemon);
  const figures = [
    { name: 'web: requests until the overview is drawn, cold', value: await requests(daemon), unit: '', reach: '<= 6' },
    { name: 'web: tasks over 100 ms after the first draw, all pages', value: long.filter((ms) => ms > 100).length, unit: '', reach: '0' },
    { name: 'web: longest task after the first draw, all pages (0: none over 50)', value: Math.max(0, ...long), unit: 'ms', reach: '<= 100' },
    { name: `web: memory after ${changes} changes of page / after 10`, value: await growth(daemon, changes), unit: 'x', reach: '<= 1.2' },
  ];
  await daemon.end();
  return figures;
}

/** Counts requests of the first page in a browser that knows nothing. */
async function requests(daemon: Daemon): Promise<number> {
  const tab = await Tab.open(daemon.url, '', {}, noBudgets);
  await tab.settled();
  const count = await tab.page.evaluate(() => performance.getEntriesByType('resource').length);
  await tab.close();
  return count + 1;
}

/** Returns how long tasks over 50 ms took, in ms, that began after something was drawn. */
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

/** Returns memory of scripts after some changes of page or selection by that after 10. */
async function growth(daemon: Daemon, changes: number): Promise<number> {
  const tab = await Tab.open(daemon.url, '', {}, noBudgets);
  const session = await tab.context.newCDPSession(tab.page);
  const used = async () => {
    await session.send('HeapProfiler.collectGarbage');
    return (await session.send('Runtime.getHeapUsage')).usedSize;
  };
  const atOverview = async () => {
    await go(tab.page, 'Overview');
    await tab.settled();
    return used();
  };
  let after10 = 0;
  for (let change = 1; change <= changes; change++) {
    await step(tab.page, change);
    await tab.settled();
    if (change == 10) after10 = await atOverview();
  }
  const afterAll = await atOverview();
  await tab.close();
  return afterAll / after10;
}

/** Goes to a page of the navigation. */
function go(page: Page, name: string): Promise<void> {
  return page.getByRole('navigation', { name: 'Pages of the dashboard' }).getByRole('link', { name }).click();
}

const names = ['Pages', 'Who', 'Compare', 'Code', 'Overview', 'Health', 'Features', 'Budgets'];

/** Goes to another page, or changes what is looked at, by what can be clicked. */
async function step(page: Page, change: number): Promise<void> {
  const time = change % 8 ? '6h' : '24h';
  switch (change % 4) {
    case 0:
      return page.getByRole('button', { name: time, exact: true }).or(page.getByRole('link', { name: time, exact: true })).first().click();
    case 1:
      return go(page, 'Pages');
    case 2:
      return page.locator('main tbody a').first().click();
    default:
      return go(page, names[change % names.length]!);
  }
}
