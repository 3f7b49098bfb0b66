// Checks the accessibility of pages with axe.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';

const axe = readFile('node_modules/axe-core/axe.min.js', 'utf8');

/** A violation that [axe.run] found. */
interface Found {
  violations: { id: string; nodes: { html: string }[] }[];
}

/**
 * Fails if axe finds a violation in a page. Its context must have bypassCSP, because axe's script
 * is not allowed by the policy.
 */
export async function axeFindsNothing(page: Page, rules: Record<string, { enabled: boolean }> = {}): Promise<void> {
  // At the turn of a minute, a page repeats its queries and dims its contents until the response is
  // there. So time stands still.
  await page.evaluate('globalThis.going = Date.now; Date.now = ((at) => () => at)(Date.now()); 0');
  await page.waitForFunction('!document.querySelector(".old")');
  await page.evaluate(await axe);
  // axe then lists no elements for passed rules, which takes half the time.
  const options = { rules, resultTypes: ['violations'], selectors: false };
  const { violations } = (await page.evaluate(`axe.run(${JSON.stringify(options)})`)) as Found;
  await page.evaluate('Date.now = going');
  assert.deepEqual(
    violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join('\n')}`),
    [],
  );
}

/** Fails if a page scrolls horizontally. */
export async function isNotWide(page: Page): Promise<void> {
  const wider = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'));
  assert.ok(wider <= 0, `it is ${wider} wider than the window`);
}
