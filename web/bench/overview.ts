// The first view of the overview after a start of the daemon, with few and with many page views.

import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Daemon, Tab, root } from '../test/daemon.ts';
import { quantile, type Figure } from './figure.ts';

const noBudgets = /status of 404/;

/** Number of rounds, each with a new browser and a new daemon. */
const rounds = 3;

/**
 * Returns the times from the navigation to the first number of the overview, and to its last
 * response including all comparisons, in ms.
 */
async function lookAt(data: string): Promise<{ first: number; last: number }> {
  const daemon = await Daemon.start('--data', data);
  try {
    return await timesOf(daemon);
  } finally {
    await daemon.end();
  }
}

async function timesOf(daemon: Daemon): Promise<{ first: number; last: number }> {
  const tab = await Tab.open(daemon.url, '', {}, noBudgets);
  await tab.page.locator('.metric.hero').waitFor();
  const first = await tab.page.evaluate(() => performance.now());
  await tab.settled();
  const last = await tab.page.evaluate(() =>
    Math.max(...performance.getEntriesByType('resource').map((one) => (one as PerformanceResourceTiming).responseEnd)),
  );
  await tab.close();
  return { first, last };
}

/** Measures the overview of sites with 20 pages and five releases. */
export async function overview(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [traces, reach] of [
    [1_600, '<= 1000'],
    [100_000, '<= 300'],
  ] as const) {
    const folder = await mkdtemp(join(tmpdir(), 'fieldtrie-overview-'));
    const data = join(folder, 'data');
    const load = [
      'run',
      './test/bench/load',
      '--site',
      '--pages',
      '20',
      '--traces',
      String(traces),
      '--rate',
      '3000',
      '--batch',
      '10',
      '--verify=false',
      '--data',
      data,
    ];
    try {
      await promisify(execFile)('go', load, { cwd: root });
      const times: Awaited<ReturnType<typeof lookAt>>[] = [];
      for (let round = 0; round < rounds; round++) times.push(await lookAt(data));
      const median = (of: 'first' | 'last') =>
        quantile(
          times.map((time) => time[of]),
          0.5,
        );
      figures.push({ name: `web/overview_${traces}_traces_first_ms`, value: median('first'), unit: 'ms', reach: '' });
      figures.push({ name: `web/overview_${traces}_traces_all_ms`, value: median('last'), unit: 'ms', reach });
    } finally {
      await rm(folder, { recursive: true });
    }
  }
  return figures;
}
