// The command behind >_ prints the numbers of its panel: all panels of all pages, run in a shell.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { Daemon, endAll, root, Tab } from './daemon.ts';
import { figuresOf, lacks, type Figures } from './figures.ts';
import { sendShop, visitOf } from './shop.ts';

const run = promisify(execFile);
let shop: Daemon;

/** Reports of page views, some without a profile. */
async function report(daemon: Daemon): Promise<void> {
  const vitals = { lcp: 1234.5, inp: 56, cls: 0.0123, fcp: 800.1, ttfb: 120.5 };
  const labels = { device: 'mobile-low' };
  for (const [i, outcome] of ['unsampled', 'unsampled', 'unsupported', 'unsampled'].entries()) {
    const elements = { lcp: 'image img#hero', inp: i == 3 ? 'key input' : 'pointer button#pay', cls: 'div#banner' };
    const parts = { lcp: [120.5, 400, 614, 100], inp: [8, 40 + 100 * i, 8] };
    const body = JSON.stringify({
      ...{ page: '/cart', outcome, weight: 10 + i, release: 'r2', labels, vitals: { ...vitals, inp: 56 + 100 * i } },
      ...{ elements: i == 2 ? {} : elements, parts },
    });
    const response = await fetch(daemon.collector + '/v1/views', {
      method: 'POST',
      body,
      headers: { 'Content-Type': 'application/json' },
    });
    assert.equal(response.status, 204, await response.text());
  }
}

before(async () => {
  shop = await Daemon.start();
  await sendShop(shop);
  await shop.send(...visitOf('one'), ...visitOf('two'), ...visitOf('three'));
  await shop.sendSamples();
  await report(shop);
  await shop.stop(); // which stores the reports
  await shop.start();
});

after(endAll);

interface Shown {
  title: string;
  lines: Record<string, string>;
  figures: Figures;
}

/** Returns all panels of a page that have commands. */
async function panelsOf(page: Page): Promise<Shown[]> {
  const all: Shown[] = [];
  for (const panel of await page
    .locator('section.panel')
    .filter({ has: page.getByRole('button', { name: 'As a command' }) })
    .all()) {
    const title = await panel.locator('h2').first().innerText();
    const figures = await panel.evaluate(figuresOf);
    const button = panel.getByRole('button', { name: 'As a command' });
    await button.click();
    await page.locator('.commands pre').first().waitFor();
    const lines: Record<string, string> = {};
    for (const pre of await page.locator('.commands pre').all()) {
      lines[(await pre.getAttribute('aria-label')) ?? ''] = await pre.innerText();
    }
    await page.keyboard.press('Escape');
    all.push({ title, lines, figures });
  }
  return all;
}

/** Runs a command line in a shell that finds the programs of this repository. */
async function printed(line: string): Promise<string> {
  const env = { ...process.env, PATH: `${join(root, 'bin')}:${process.env.PATH}` };
  return (await run('sh', ['-c', line.replace(/^curl /, 'curl -fsS ')], { env, maxBuffer: 1 << 28 })).stdout;
}

test('a number that differs is reported', () => {
  const printed = '7.000 (6.000 to 8.000)  1.25 min  main\n12.346 (10.1 to 14.1)  main.draw (app.js:7:3)';
  const of = (row: string, text: string) => lacks(printed, [{ row, of: 'self', text }], true).length;
  assert.equal(of('main.draw', '12.3 ±2') + of('main', '75 s') + of('main', '7 ±1'), 0);
  for (const text of ['12.4', '1,234.6', '12.3 ±2.3', '75 s', '3']) assert.equal(of('main.draw', text), 1, text);
  assert.equal(of('nobody', '7'), 1);
});

const place = 'name=draw&resource=https://shop.example/app.js&line=7&column=3';
const pages = [
  '',
  '?since=7d',
  'pages',
  'features',
  'page?page=/cart&view=rows',
  'page?page=/cart&release=r1&label=device=mobile-low&tab=top',
  'page?page=/cart&tab=top',
  'page?page=/cart&tab=sandwich&callers-view=rows&callees-view=rows',
  'page?page=/cart&tab=code&by=package',
  'page?page=/visit',
  'feature?feature=search&tab=code',
  `function?page=/cart&${place}&callers-view=rows&callees-view=rows`,
  'compare?page=/cart&release=r2&compare_release=r1',
  'compare?page=/cart&release=r2&compare_release=r1&by=file',
  'compare?page=/cart&release=r2&compare_release=r1&tab=flame&view=rows',
  'compare?page=/visit&release=r1&compare_page=/list&min_views=2',
  'audience?page=/cart',
  'ownership',
  'ownership?page=/cart&by=function',
  'views?page=/cart',
  'health',
  'budgets',
];

for (const path of pages) {
  test(`the commands of /${path}`, async (t) => {
    const tab = await Tab.open(shop.url, path, {}, /status of 404/);
    await tab.settled();
    const panels = await panelsOf(tab.page);
    await tab.close();
    let compared = 0;
    const wrong: string[] = [];
    for (const { title, lines, figures } of panels) {
      const line = lines.aggregate ?? lines.curl;
      assert.ok(line, `${title}: no command`);
      const text = await printed(line);
      if (line == lines.curl && !/views\?/.test(line)) continue; // the response itself
      compared += figures.length;
      wrong.push(
        ...lacks(text, figures, line == lines.aggregate).map(
          (figure) => `${title}: ${figure} is not printed by ${line}`,
        ),
      );
    }
    assert.deepEqual(wrong, []);
    if (!['budgets', 'health'].includes(path)) assert.ok(compared > 0, 'nothing was compared');
    t.diagnostic(`${panels.length} panels, ${compared} figures`);
  });
}
