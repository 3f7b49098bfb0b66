// A page with only a flame graph, and trees for it.

import type { Page } from 'playwright-core';
import { openFixture } from './fixture.ts';

/** Global functions of the page. */
interface Fixture {
  show(response: unknown): Promise<void>;
  randomResponse(nodes: number, seed: number): unknown;
}

declare const fixture: Fixture;
declare global {
  var json: string;
}

/** Opens a page with the JSON of a tree with this many nodes in memory. */
export async function openFlame(nodes: number): Promise<Page> {
  const page = await openFixture('test/flame-page.tsx');
  await page.evaluate((n) => void (globalThis.json = JSON.stringify(fixture.randomResponse(n, 1))), nodes);
  return page;
}

/** Draws the tree. */
export async function show(page: Page): Promise<void> {
  await page.evaluate(() => fixture.show(JSON.parse(globalThis.json)));
}
