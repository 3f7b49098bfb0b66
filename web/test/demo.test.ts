// The demo on its first page.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { axeFindsNothing, isNotWide } from './accessible.ts';
import { Daemon, endAll, Tab } from './daemon.ts';

after(endAll);

test('the first page shows the built-in regressions and is labelled as a demo', async () => {
  const shop = await Daemon.start('--demo');
  const tab = await Tab.open(shop.url, '', { bypassCSP: true }, /status of 503/); // until budgets are evaluated
  const { page } = tab;
  await page.getByText('This is a demo').waitFor();
  await page.getByText('Release 2.5.0 against 2.4.0').waitFor();
  const panel = page.locator('.panel.attention');
  const first = panel.locator('.item.change').first();
  await first.waitFor();
  assert.match(await first.innerText(), /^slower\s+formatPrice/);
  const change = panel.locator('.item', { hasText: 'formatPrice was edited in release 2.5.0' });
  await change.waitFor(); // changes and budgets are evaluated some seconds after the start
  await panel.getByText('budget blown').waitFor();
  // The page that costs all visitors the most is first. Which page this is depends on the time of
  // day at which the demo starts.
  assert.match(await change.innerText(), /^slower formatPrice \+\d+.* on \/\S* and \d more/);
  const text = await panel.innerText();
  assert.ok(
    text.indexOf('was edited in release 2.5.0') < text.indexOf('Release 2.5.0 against'),
    'changes come before the comparison',
  );
  await axeFindsNothing(page);
  await isNotWide(page);
  const more = await page.getByRole('link', { name: 'What else the demo contains' }).getAttribute('href');
  assert.match(await (await fetch(new URL(more!, page.url()))).text(), /What is planted/);
  await page.getByRole('link', { name: 'formatPrice', exact: true }).first().waitFor();
  await change.getByRole('link', { name: 'formatPrice', exact: true }).click();
  const step = page.locator('.panel.hours');
  await step.waitFor();
  assert.deepEqual(await step.locator('figcaption .key').allInnerTexts(), ['2.4.0', '2.5.0']);
  const told = await step.getByRole('img').getAttribute('aria-label');
  assert.match(told!, /2\.4\.0: .*; 2\.5\.0: /);
  const facts = await page.locator('.change-facts').innerText();
  assert.match(facts, /formatPrice src\/lib\/money\.ts:7\s+app, @shop\/platform/);
  await tab.close();
});
