// Pages that everybody can use, as axe sees it.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';

const axe = readFile('node_modules/axe-core/axe.min.js', 'utf8');

/** What [axe.run] found that is wrong. */
interface Found {
  violations: { id: string; nodes: { html: string }[] }[];
}

/** Fails if axe finds something in a page, whose context has bypassCSP: axe is a script of another origin to the policy. */
export async function axeFindsNothing(page: Page, rules: Record<string, { enabled: boolean }> = {}): Promise<void> {
  // When the minute turns, a page asks again and dims what it shows until the response is there.
  await page.evaluate('globalThis.going = Date.now; Date.now = ((at) => () => at)(Date.now()); 0');
  await page.waitForFunction('!document.querySelector(".old")');
  await page.evaluate(await axe);
  // Of what passed axe lists no elements then, which takes half the time.
  const options = { rules, resultTypes: ['violations'], selectors: false };
  const { violations } = (await page.evaluate(`axe.run(${JSON.stringify(options)})`)) as Found;
  await page.evaluate('Date.now = going');
  assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join('\n')}`), []);
}

/** Fails if a page has to be scrolled to its side. */
export async function isNotWide(page: Page): Promise<void> {
  const wider = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'));
  assert.ok(wider <= 0, `it is ${wider} wider than the window`);
}
