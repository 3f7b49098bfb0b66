// Every page: numbers, keys, hostile names, both themes, a narrow window.

import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { Comparison } from '../src/api/types.ts';
import { changedFunctions } from '../src/pages/compare/verdict.ts';
import { number, signed, signedPercent } from '../src/widgets/numbers.ts';
import { axeFindsNothing, isNotWide } from './accessible.ts';
import { aggregate, Daemon, endAll, Tab } from './daemon.ts';
import { hostile, sendShop } from './shop.ts';
import { isValid } from './valid.ts';

let shop: Daemon;

before(async () => {
  shop = await Daemon.start();
  await sendShop(shop);
});

after(endAll);

/** A daemon without budgets returns status 404 for them. */
const noBudgets = /status of 404/;

const places = {
  overview: '',
  pages: 'pages',
  features: 'features',
  page: 'page?page=/cart',
  rows: 'page?page=/cart&view=rows',
  top: 'page?page=/cart&tab=top',
  code: 'page?page=/cart&tab=code',
  function: 'function?page=/cart&name=draw&resource=https://shop.example/app.js&line=7&column=3',
  compare: 'compare?page=/cart&release=r2&compare_release=r1',
  difference: 'compare?page=/cart&release=r2&compare_release=r1&tab=flame',
  audience: 'audience',
  owners: 'ownership',
  budgets: 'budgets',
  changes: 'changes',
  health: 'health',
  nowhere: 'nowhere',
};

test('the documentation is valid', async () => {
  const paths = new Set(['docs/']);
  for (const path of paths) {
    const response = await fetch(`${shop.url}/${path}`);
    assert.equal(response.status, 200, path);
    if (!response.headers.get('Content-Type')?.startsWith('text/html')) continue;
    const text = await response.text();
    await isValid(path, text);
    for (const [, to = ''] of text.matchAll(/href="([\w.-]+\.html)["#]/g)) paths.add(`docs/${to}`);
  }
  assert.ok(paths.size > 20, [...paths].join(' '));
});

for (const [i, [name, path]] of Object.entries(places).entries()) {
  test(`${name}: it is valid, axe finds no violations, and it is not wider than the window`, async () => {
    // Each page is tested in one theme and the largest ones in both, because each takes some
    // seconds.
    const looks = [
      ['light', 1280],
      ['dark', 360],
    ] as const;
    for (const [colorScheme, width] of name == 'page' ? looks : [looks[i % 2]!]) {
      const tab = await Tab.open(
        shop.url,
        path,
        { colorScheme, viewport: { width, height: 800 }, bypassCSP: true },
        noBudgets,
      );
      await tab.settled();
      await isValid(name, await tab.page.content());
      await axeFindsNothing(tab.page);
      await isNotWide(tab.page);
      await tab.close();
    }
  });
}

test('no table is cut in a narrow window', async () => {
  const tab = await Tab.open(shop.url, '', { viewport: { width: 360, height: 740 } }, noBudgets);
  for (const [name, path] of Object.entries(places)) {
    await tab.page.goto(`${shop.url}/${path}`);
    await tab.settled();
    const cut = await tab.page.evaluate(() =>
      [...document.querySelectorAll('.table')]
        .filter(
          (table) =>
            table.checkVisibility({ contentVisibilityAuto: true }) && table.scrollWidth > table.clientWidth + 1,
        )
        .map((table) => table.getAttribute('aria-label')),
    );
    assert.deepEqual(cut, [], name);
  }
  await tab.close();
});

const found = {
  evaluated: '2026-11-29T11:00:00Z',
  more: 0,
  changes: [
    {
      id: '4d430d0d6c8c01fb',
      title: 'slower',
      state: 'open',
      direction: 'slower',
      detector: 'release',
      release: '2026.11.29-canary',
      compare_release: '2026.11.28',
      begin: '2026-11-29T09:00:00Z',
      found: '2026-11-29T10:00:00Z',
      what: {
        kind: 'function',
        metric: 'self',
        function: { name: 'calculateDiscountsOfTheShoppingCart', resource: 'src/cart.ts', line: 1, column: 1 },
      },
      pages: [
        {
          page: '/catalogue/products/:id/reviews',
          views: { a: 900, b: 900 },
          value: { a: 20, b: 180 },
          change: { value: 160, low: 112, high: 208 },
          level: 0.95,
        },
      ],
    },
  ],
};

test('a narrow window shows whole names of changes, their sizes and places', async () => {
  const tab = await Tab.open(
    shop.url,
    'compare?page=/cart&release=r2&compare_release=r1',
    { viewport: { width: 360, height: 740 } },
    noBudgets,
  );
  const { page } = tab;
  await page.route('**/api/v1/changes?*', (route) => route.fulfill({ json: found }));
  for (const path of ['compare?page=/cart&release=r2&compare_release=r1', 'changes']) {
    await page.goto(`${shop.url}/${path}`);
    await tab.settled();
    const cells = page.locator('.table td.wraps');
    assert.ok((await cells.count()) > 0, path);
    for (const cell of await cells.all()) {
      assert.ok(await cell.evaluate((td) => td.scrollWidth <= td.clientWidth), `${path}: ${await cell.innerText()}`);
    }
    const wide = await page.evaluate(() =>
      [...document.querySelectorAll('.table')].some((table) => table.scrollWidth > table.clientWidth + 1),
    );
    assert.ok(!wide, path);
  }
  const row = await page.locator('.table tbody tr').first().innerText();
  for (const text of [
    'calculateDiscountsOfTheShoppingCart',
    '160',
    '/catalogue/products/:id/reviews',
    '2026.11.29-canary',
    'open',
  ]) {
    assert.ok(row.includes(text), `${text} in ${row}`);
  }
  await tab.close();
});

test('a comparison has the numbers of the API', async () => {
  const params = 'page=/cart&release=r2&compare_release=r1';
  const response: Comparison = await (await fetch(`${shop.url}/api/v1/compare?${params}&since=24h`)).json();
  const tab = await Tab.open(shop.url, `compare?${params}`, { viewport: { width: 1280, height: 900 } }, noBudgets);
  const { page } = tab;
  await tab.settled();
  const { change_ms, mean_ms, relative } = response.total;
  const verdict = await page.locator('.verdict.large').innerText();
  for (const text of [
    signed(change_ms.value),
    signedPercent(relative!),
    signed(change_ms.low!),
    signed(change_ms.high!),
  ]) {
    assert.ok(verdict.includes(text), `${text} in ${verdict}`);
  }
  const cards = await page.locator('.metrics').first().innerText();
  for (const text of [signed(change_ms.value), number(mean_ms.a), number(mean_ms.b)])
    assert.ok(cards.includes(text), `${text} in ${cards}`);
  const changed = changedFunctions(response);
  assert.ok(changed.length > 0);
  for (const of of changed) {
    const row = await page.locator('.table tbody tr', { hasText: of.name }).first().innerText();
    for (const text of [
      signed(of.change_ms.value),
      signed(of.change_ms.low!),
      signed(of.change_ms.high!),
      number(of.mean_ms.a),
      number(of.mean_ms.b),
    ]) {
      assert.ok(row.includes(text), `${text} in ${row}`);
    }
  }
  await tab.close();
});

test('in a wide window, tables are as wide as their cards, and names of numbers take one line', async () => {
  const tab = await Tab.open(shop.url, 'pages', { viewport: { width: 1920, height: 1000 } }, noBudgets);
  const { page } = tab;
  await tab.settled();
  const widths = await page.evaluate(() =>
    [...document.querySelectorAll('.table')].map((box) => [box.clientWidth, box.querySelector('table')!.clientWidth]),
  );
  for (const [box, table] of widths) assert.ok(table! > box! - 40, `${table} of ${box}`);
  await page.goto(`${shop.url}/page?page=/cart`);
  await tab.settled();
  const tops = await page.evaluate(() =>
    [...document.querySelectorAll('.metrics')].map((list) =>
      [...list.querySelectorAll('dt')].map((dt) => Math.round(dt.getBoundingClientRect().top)),
    ),
  );
  for (const of of tops) assert.ok(new Set(of).size <= 1 || Math.max(...of) - Math.min(...of) > 40, `${of}`);
  await tab.close();
});

test('numbers, charts and flame graph of a page are visible without scrolling; / searches anywhere', async () => {
  const tab = await Tab.open(shop.url, 'page?page=/cart', { viewport: { width: 1280, height: 900 } });
  const { page } = tab;
  await page.locator('.flame canvas').waitFor();
  const top = async (selector: string) => (await page.locator(selector).first().boundingBox())!.y;
  assert.ok((await top('.metric.hero')) < 300);
  assert.ok((await top('.series')) < 500);
  assert.ok((await top('.flame canvas')) < 860, `the flame graph begins at ${await top('.flame canvas')}`);
  await page.keyboard.press('/');
  assert.equal(
    await page.evaluate(() => document.activeElement?.getAttribute('aria-label')),
    'Search functions and files',
  );
  await page.keyboard.type('/');
  assert.equal(
    await page.evaluate(() => (document.activeElement as HTMLInputElement).value),
    '/',
    'it is a letter there',
  );
  await tab.close();
});

test('unknown names are reported', async () => {
  const tab = await Tab.open(shop.url, 'page?page=/prodcts', {}, noBudgets);
  const { page } = tab;
  await page.getByText('There is no page /prodcts').waitFor();
  await page.getByRole('link', { name: '/cart', exact: true }).waitFor();
  await page.goto(`${shop.url}/page?page=/cart&release=r99`);
  await page.getByText('There is no release r99').waitFor();
  await page.goto(`${shop.url}/?since=banana`);
  await page.getByText('“banana” is not a valid time').waitFor();
  await page.getByRole('link', { name: 'Show the last 24 h' }).click();
  await page.getByRole('link', { name: '/cart', exact: true }).first().waitFor(); // also in another list
  await tab.close();
});

/** Functions of a page as printed by aggregate: ms per page view, by name. */
async function functionsOf(page: string): Promise<Map<string, { self: number; total: number }>> {
  const profile = JSON.parse(await aggregate('--addr', shop.address, '--page', page, '--format', 'json'));
  const ms = (us: number) => us / 1000 / profile.views;
  type Row = { name: string; self_us: number; total_us: number };
  return new Map(profile.functions.map((f: Row) => [f.name, { self: ms(f.self_us), total: ms(f.total_us) }]));
}

test('the flame graph has the numbers of aggregate, with keys alone', async () => {
  const functions = await functionsOf('/cart');
  const tab = await Tab.open(shop.url, 'page?page=/cart');
  const { page } = tab;
  const graph = page.locator('.flame canvas');
  await graph.focus();
  await page.keyboard.press('ArrowDown');
  const details = page.locator('.flame-details');
  await details.getByText('main', { exact: true }).first().waitFor();
  await page.keyboard.press('ArrowDown');
  await details.getByText('draw', { exact: true }).first().waitFor();
  const text = await details.innerText();
  const { self, total } = functions.get('draw')!;
  assert.match(text, new RegExp(`self\\s+${Math.round(self)} ms`));
  assert.match(text, new RegExp(`total\\s+${Math.round(total)} ms`));
  await page.keyboard.press('Enter');
  await page.waitForURL(/zoom=[0-9a-f]{16}/);
  await details.getByText('of zoomed').waitFor();
  await page.keyboard.press('Escape');
  await page.waitForURL((url) => !url.searchParams.has('zoom'));
  await page.keyboard.press('/');
  await page.keyboard.type('/dra/');
  await page.getByText(`1 match, ${Math.round(total)} ms`).waitFor();
  await tab.close();
});

/** Presses Tab until an element with this text has the focus. The element must be visible. */
async function tabTo(page: Page, text: string): Promise<void> {
  const said: string[] = [];
  for (let presses = 0; presses < 80; presses++) {
    await page.keyboard.press('Tab');
    const focus = await page.evaluate(() => {
      const { activeElement: element } = document;
      const box = element?.getBoundingClientRect();
      return {
        text: element?.textContent?.trim() ?? '',
        seen: !!box && box.width > 0 && box.bottom > 0 && box.top < innerHeight,
      };
    });
    said.push(focus.text.slice(0, 40));
    if (focus.text != text) continue;
    assert.ok(focus.seen, `${text} has the focus but is not visible`);
    return;
  }
  assert.fail(`Tab does not lead to ${text}: ${said.join(', ')}`);
}

test('keys alone lead from the overview to a function and its callers', async () => {
  const tab = await Tab.open(shop.url, '', {}, noBudgets);
  const { page } = tab;
  await tab.settled();
  await tabTo(page, '/cart');
  await page.keyboard.press('Enter');
  await page.waitForURL(/page\?page=/);
  await tab.settled();
  await tabTo(page, 'Top functions');
  await page.keyboard.press('Enter');
  await page.waitForURL(/tab=top/);
  await page.getByRole('link', { name: 'draw' }).first().waitFor();
  await tabTo(page, 'draw');
  await page.keyboard.press('Enter');
  await page.waitForURL(/function\?.*name=draw/);
  await page.getByRole('heading', { name: 'draw' }).waitFor();
  await page.getByRole('heading', { name: 'Callers' }).waitFor();
  await tab.close();
});

test('queries to a daemon with too many queries are repeated, with a message', async () => {
  const tab = await Tab.open(shop.url, 'health', {}, /status of (404|503)/);
  let refused = 0;
  await tab.page.route('**/api/v1/**', (route) => {
    if (refused++ >= 3) return route.continue();
    const body = JSON.stringify({
      error: 'no turn within 10s: at most 32 queries run at the same time, a quarter of them for one client; try again',
    });
    return route.fulfill({ status: 503, headers: { 'Retry-After': '2' }, contentType: 'application/json', body });
  });
  await tab.page.goto(`${shop.url}/audience`);
  await tab.page
    .getByText(/daemon is busy/)
    .first()
    .waitFor();
  await tab.page.getByRole('link', { name: 'mobile-low' }).first().waitFor();
  assert.equal(await tab.page.getByText(/daemon is busy/).count(), 0);
  await tab.close();
});

test('a comparison shows the changes', async () => {
  const tab = await Tab.open(shop.url, 'compare?page=/cart&release=r2&compare_release=r1');
  const { page } = tab;
  const verdict = page.locator('p').filter({ hasText: /^Slower:/ });
  assert.match(await verdict.innerText(), /\+100\sms/);
  const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'draw' }) });
  assert.match(await row.innerText(), /slower[\s\S]*\+100/);
  await tab.close();
});

test('a function without calls is absent, with a message', async () => {
  const tab = await Tab.open(shop.url, 'function?page=/cart&name=nobody&resource=https://shop.example/app.js&line=3');
  await tab.page
    .getByText(/was not sampled/)
    .first()
    .waitFor();
  await tab.close();
});

test('budgets have their values over time', async () => {
  const budget = { name: 'cart', page: '/cart', metric: 'p75', limit: '100ms', min_views: 10 };
  const other = { name: 'draw', page: '/cart', function: 'draw', metric: 'mean', limit: '1s', min_views: 10 };
  const daemon = await Daemon.start('--budgets', `FILE:${JSON.stringify({ budgets: [budget, other] })}`);
  await sendShop(daemon);
  await daemon.stop();
  await daemon.start(); // which evaluates them immediately
  const tab = await Tab.open(daemon.url, 'budgets');
  const row = tab.page.getByRole('row').filter({ hasText: 'cart' }).first();
  await row.getByText('blown').waitFor();
  await row.getByRole('img', { name: /^cart, p75: / }).waitFor();
  await tab.page
    .getByRole('row')
    .filter({ hasText: 'draw' })
    .getByRole('img', { name: /^draw, mean: \d/ })
    .waitFor();
  await tab.page.goto(daemon.url);
  await tab.page.getByText('budget blown').waitFor();
  await tab.close();
});

test('health shows what was refused, and why', async () => {
  const daemon = await Daemon.start();
  const body = JSON.stringify({ page: '/x', trace: { frames: 7 } });
  await fetch(`${daemon.collector}/v1/traces`, {
    method: 'POST',
    body,
    headers: { 'Content-Type': 'application/json' },
  });
  await daemon.sendSamples();
  const tab = await Tab.open(daemon.url, 'health');
  await tab.page.getByRole('heading', { name: 'All is well' }).waitFor();
  const row = tab.page
    .getByRole('row')
    .filter({ hasText: 'traces' })
    .filter({ hasText: /The responses have/ });
  assert.match(await row.innerText(), /\t1\t/);
  const samples = (await readdir('../testdata/traces')).filter((name) => name.endsWith('.json.gz')).length;
  await tab.page.getByText('Not known: 0 page views of arm profiled have reported').waitFor();
  const stored = tab.page.locator('dl.health > div').filter({ hasText: 'Traces since the start' });
  assert.match(await stored.innerText(), new RegExp(`\\b${samples}$`));
  await tab.close();
});

test('hostile names are shown unchanged', async () => {
  const tab = await Tab.open(shop.url, 'page?page=/cart&tab=top');
  const { page } = tab;
  await page.getByText('</script><img').first().waitFor();
  assert.equal(await page.locator('img').count(), 0);
  const link = page.getByRole('link', { name: '</script><img' }).first();
  await link.click();
  await page.waitForURL(/function\?/);
  await page.getByRole('heading', { name: 'Callers' }).waitFor();
  assert.ok(hostile.length > 8000);
  await tab.close();
});
