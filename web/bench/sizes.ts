// Sizes of the dashboard's files, minified and compressed.

import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Figure } from './figure.ts';

/**
 * Measures the output of build.js: scripts and styles of the first page, of flame graphs and page
 * views, and uPlot.
 */
export async function sizes(): Promise<Figure[]> {
  const sum = new Map<string, number>();
  for (const name of await readdir('dist/assets')) {
    const size = gzipSync(await readFile(join('dist/assets', name)), { level: 9 }).length / 1000;
    const part = /^drawn/.test(name) ? 'drawn' : /^uPlot/.test(name) ? 'uplot' : 'first_page';
    sum.set(part, (sum.get(part) ?? 0) + size);
  }
  const reach: Record<string, string> = { first_page: '<= 60' };
  return [...sum].map(([part, value]) => ({ name: `web/${part}_gz`, value, unit: 'kB', reach: reach[part] ?? '' }));
}
