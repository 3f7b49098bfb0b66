// Single page views with a real daemon, real traces and a real browser.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ViewResponse, Views } from '../src/api/types.ts';
import { axeFindsNothing, isNotWide } from './accessible.ts';
import { aggregate, Daemon, endAll, Tab } from './daemon.ts';
import { hostile, traceOf, visitOf } from './shop.ts';

let shop: Daemon;

before(async () => {
  shop = await Daemon.start();
  const carts = Array.from({ length: 20 }, (_, view) => traceOf(view, 'r1', '/cart', 100 + view * 10));
  await shop.send(...carts, ...visitOf('visit'));
});

after(endAll);

/** What the API returns. */
async function ask<T>(path: string): Promise<T> {
  const response = await fetch(`${shop.url}/api/v1/${path}`);
  assert.equal(response.status, 200, await response.clone().text());
  return (await response.json()) as T;
}

/** The page view with the most time on a page, and its calls. */
async function heaviest(page: string): Promise<{ path: string; view: ViewResponse }> {
  const { list } = await ask<Views>(`views?page=${page}&quantiles=1`);
  const view = await ask<ViewResponse>(`view?id=${list[0]!.id}`);
  return { path: `view?id=${list[0]!.id}`, view };
}

test('the list has the page views of the API, with links to them', async () => {
  const { list, views } = await ask<Views>('views?page=/cart');
  const tab = await Tab.open(shop.url, 'page?page=/cart');
  const { page } = tab;
  await page.getByRole('link', { name: 'Page views', exact: true }).click();
  await page.waitForURL(/\/views\?/);
  const table = page.getByRole('table', { name: 'Page views' });
  await table.waitFor();
  for (const entry of list) {
    const row = await table
      .getByRole('row')
      .filter({ has: page.getByRole('link', { name: `p${entry.quantile * 100}`, exact: true }) })
      .innerText();
    assert.ok(row.includes(Math.round(entry.time_ms).toString()), `${entry.time_ms} ms: ${row}`);
    assert.ok(row.includes(entry.labels!.device!) && row.includes('Chrome 150') && row.includes('r1'), row);
    assert.ok(row.includes(`${entry.long_task_count} · `), row);
  }
  await page.getByText(`Selected from ${views} profiled page views`).waitFor();
  await page.getByRole('link', { name: 'p75', exact: true }).click();
  await page.getByRole('heading', { name: 'Page view at p75 of /cart' }).waitFor();
  await page.getByRole('link', { name: 'Next: p95' }).click();
  await page.getByRole('heading', { name: 'Page view at p95 of /cart' }).waitFor();
  assert.equal(await page.getByRole('link', { name: /^Next/ }).count(), 0);
  await page.getByText(`more than 95 % of ${views} page views`.replace('95 %', '95\u00a0%')).waitFor();
  await tab.close();
});

/** Self times of calls in ms, by name, computed from the API's starts and ends. */
function selfOf({ calls, frames, strings }: ViewResponse): Map<string, number> {
  const of = new Map<string, number>();
  const open: number[] = [];
  const name = (i: number) => strings[frames.name[calls.frame[i]!]!]!;
  const add = (i: number, us: number) => of.set(name(i), (of.get(name(i)) ?? 0) + us / 1000);
  calls.frame.forEach((_, i) => {
    open.length = calls.level[i]!;
    const took = calls.end_us[i]! - calls.start_us[i]!;
    add(i, took);
    if (open.length) add(open.at(-1)!, -took);
    open.push(i);
  });
  return of;
}

test('a page view has the numbers of the API', async () => {
  const { path, view } = await heaviest('/cart');
  const self = selfOf(view);
  const sum = [...self.values()].reduce((a, b) => a + b, 0);
  assert.ok(Math.abs(sum - view.time_ms) < 0.01, `${sum} and ${view.time_ms} ms`);
  const tab = await Tab.open(shop.url, path);
  const { page } = tab;
  const table = page.getByRole('table', { name: 'Functions of this page view' });
  await table.waitFor();
  let shown = 0;
  for (const row of (await table.getByRole('row').all()).slice(1)) {
    const cells = await row.getByRole('cell').allInnerTexts();
    shown += Number(cells[1]!.replace(/[^\d.]/g, ''));
  }
  assert.ok(Math.abs(shown - view.time_ms) < 1, `${shown} of ${view.time_ms} ms`);
  const metrics = page.getByRole('region', { name: 'This page view', exact: true });
  assert.match(await metrics.innerText(), new RegExp(`Long tasks\\s+${view.long_task_count}\\s`));
  assert.equal(await metrics.locator('.view-id code').innerText(), view.id);
  await metrics.getByText('Erase this page view').click();
  const line = await metrics.locator('.command pre').innerText();
  const [program, ...words] = line.split(' ');
  assert.equal(program, 'aggregate');
  assert.match(await aggregate(...words.map((word) => (word == '--yes' ? '--dry-run' : word))), /1 trace/);
  const tasks = page.getByRole('group', { name: /^Long tasks/ }).getByRole('button');
  assert.equal(await tasks.count(), view.long_tasks.length);
  const [task] = view.long_tasks;
  const [from, to] = [task!.start_us, task!.end_us].map((us) => (us / 1000).toFixed(1));
  const said = `${Math.round((task!.end_us - task!.start_us) / 1000)} ms: long task from ${from} ms to ${to} ms`;
  assert.equal(await tasks.first().getAttribute('aria-label'), said);
  await tab.close();
});

test('routes, features, phases and unsampled periods are at their times', async () => {
  const { path, view } = await heaviest('/visit');
  assert.ok(view.unsampled.length > 0);
  const tab = await Tab.open(shop.url, `${path}&page=/visit`);
  const { page } = tab;
  await page.getByRole('link', { name: 'include them' }).click(); // the second trace is only on the next route
  const lane = async (name: RegExp) => {
    const all = await page.getByRole('group', { name }).getByRole('button').all();
    return Promise.all(all.map((bar) => bar.getAttribute('aria-label')));
  };
  await page
    .getByRole('group', { name: /^Routes/ })
    .getByRole('button', { name: /^\/visit\/next/ })
    .waitFor(); // before, it has only the first trace
  assert.deepEqual(await lane(/^Routes/), [
    '/visit, 400.0 ms, starting at 0.0 ms',
    '/visit/next, 610.0 ms, starting at 400.0 ms',
  ]);
  assert.deepEqual(await lane(/^Features/), ['search, 150.0 ms, starting at 50.0 ms']);
  assert.deepEqual(await lane(/^Phases/), ['load, 300.0 ms, starting at 0.0 ms']);
  const unsampled = page.locator('.time-unsampled');
  assert.equal(await unsampled.count(), view.unsampled.length);
  const chart = (await page.locator('.flame-canvas').boundingBox())!;
  const [{ start_us, end_us }] = view.unsampled as [{ start_us: number; end_us: number }];
  const box = (await unsampled.first().boundingBox())!;
  const scale = chart.width / view.end_us;
  assert.ok(
    Math.abs(box.x - chart.x - start_us * scale) < 1 && Math.abs(box.width - (end_us - start_us) * scale) < 1,
    JSON.stringify({ box, chart }),
  );
  await tab.close();
});

test('keys alone lead from the list to a call', async () => {
  const tab = await Tab.open(shop.url, 'views?page=/cart&quantiles=1');
  const { page } = tab;
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  await page.getByRole('link', { name: 'max', exact: true }).focus();
  await press('Enter');
  await page.waitForURL(/\/view\?/);
  await page.locator('.flame-canvas').waitFor();
  for (let i = 0; i < 60; i++) {
    await press('Tab');
    if (await page.evaluate(() => document.activeElement?.classList.contains('flame-canvas'))) break;
  }
  await press('ArrowDown', 'ArrowDown');
  const details = page.locator('.flame-details');
  await details.getByText('draw', { exact: true }).waitFor();
  const text = await details.innerText();
  assert.match(text, /start\s+0\.0 ms\s+duration\s+290 ms\s+self\s+290 ms/);
  assert.match(
    await page.locator('.flame [role=status]').innerText(),
    /^draw: starting at 0\.0 ms, 290 ms, self 290 ms$/,
  );
  await press('Enter');
  await page.waitForURL(/range=0-290/);
  await details.getByText('of zoomed').waitFor();
  await press('Escape');
  await page.waitForURL((url) => !url.searchParams.has('range'));
  await press('w', 'w', 'd');
  await page.waitForURL(/range=/);
  await press('Home');
  await page.waitForURL((url) => !url.searchParams.has('range'));
  await press('/');
  await page.keyboard.type('draw');
  await page.getByText('1 match, 290 ms').waitFor();
  await press('Escape', 'Escape', '?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts of the timeline' }).waitFor();
  await press('Escape', 'ArrowDown', 'ArrowDown', 'c');
  await page.waitForURL(/function\?.*name=draw/);
  await tab.close();
});

test('a wheel, the strip, a bar and the history of the browser change the visible range', async () => {
  const { path } = await heaviest('/visit');
  const tab = await Tab.open(shop.url, path);
  const { page } = tab;
  await page.getByRole('button', { name: /^search, / }).click();
  await page.waitForURL(/range=50-200/);
  await page.goBack();
  await page.waitForURL((url) => !url.searchParams.has('range'));
  const canvas = page.locator('.flame-canvas');
  await canvas.hover();
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -100);
  await page.keyboard.up('Control');
  await page.waitForURL(/range=/);
  const strip = (await page.locator('.time-map').boundingBox())!;
  const at = (part: number) => [strip.x + part * strip.width, strip.y + 10] as const;
  await page.mouse.dblclick(...at(0.5));
  await page.waitForURL((url) => !url.searchParams.has('range'));
  await page.mouse.move(...at(0.25));
  await page.mouse.down();
  await page.mouse.move(...at(0.5), { steps: 4 });
  await page.mouse.up();
  await page.waitForURL(/range=25\d[\d.]*-5\d\d/); // the last move, too
  await page.reload();
  await page.locator('.time-window').waitFor();
  const seen = (await page.locator('.time-window').boundingBox())!;
  assert.ok(
    Math.abs(seen.x - strip.x - strip.width / 4) < 4 && Math.abs(seen.width - strip.width / 4) < 6,
    JSON.stringify({ seen, strip }),
  );
  await tab.close();
});

test('by touch', async () => {
  const { path } = await heaviest('/cart');
  const tab = await Tab.open(shop.url, path, { hasTouch: true, viewport: { width: 360, height: 740 } });
  const { page } = tab;
  const tap = () => page.locator('.flame-canvas').tap({ position: { x: 100, y: 50 } });
  await tap();
  await page.locator('.flame-details').getByText('draw', { exact: true }).waitFor();
  await page.waitForTimeout(400);
  await tap();
  await page.waitForURL(/range=0-290/);
  await page.getByRole('button', { name: 'Zoom out' }).tap();
  await page.waitForURL((url) => !url.searchParams.has('range'));
  await tab.close();
});

test('the calls are also rows', async () => {
  const { path } = await heaviest('/cart');
  const tab = await Tab.open(shop.url, `${path}&view=rows`);
  const { page } = tab;
  const grid = page.getByRole('treegrid');
  await grid.focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  const row = grid.getByRole('row').filter({ hasText: 'draw' });
  assert.match(await row.innerText(), /0\.0 ms\s+290 ms\s+290 ms/);
  assert.equal(await row.getAttribute('aria-selected'), 'true');
  await tab.close();
});

for (const [name, path] of [
  ['list', () => 'views?page=/cart'],
  ['view', async () => (await heaviest('/visit')).path],
  ['rows', async () => `${(await heaviest('/visit')).path}&view=both`],
] as const) {
  test(`${name}: axe finds no violations in both themes, and it is not wider than the window`, async () => {
    for (const [colorScheme, width] of [
      ['light', 1280],
      ['dark', 360],
    ] as const) {
      const tab = await Tab.open(shop.url, await path(), {
        colorScheme,
        viewport: { width, height: 800 },
        bypassCSP: true,
      });
      await tab.settled();
      await axeFindsNothing(tab.page);
      await isNotWide(tab.page);
      await tab.close();
    }
  });
}

test('hostile names are shown unchanged', async () => {
  const { path } = await heaviest('/cart');
  const tab = await Tab.open(shop.url, `${path}&view=both`);
  const { page } = tab;
  await page.getByRole('treegrid').getByText('</script><img').first().waitFor();
  await page.getByRole('table').getByText('</script><img').first().waitFor();
  assert.equal(await page.locator('img').count(), 0);
  await page
    .getByRole('table')
    .getByRole('row')
    .filter({ hasText: '</script>' })
    .getByRole('button', { name: 'Find' })
    .click();
  await page.getByText(/^1 match/).waitFor();
  assert.ok(hostile.length > 8000);
  await tab.close();
});

test('a user without the permission sees no links, and gets a remedy', async () => {
  const rules = `users:
  - name: ann
    bcrypt: $2a$05$GbONi0oUbWftKQT89KJuceigWx23977lLpT5O90AAfPltFUF/8L9K
    scopes: [query]
`;
  const guarded = await Daemon.start('--access', `FILE:${rules}`);
  await guarded.send(traceOf(0, 'r1', '/cart', 100));
  const tab = await Tab.open(guarded.url, 'page?page=/cart', {}, /status of (401|403)/);
  const { page } = tab;
  await page.getByLabel('User').fill('ann');
  await page.getByLabel('Password').fill('secret');
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByText('Time per page view').first().waitFor();
  await tab.settled();
  assert.equal((await page.getByRole('link', { name: 'Audience', exact: true }).count()) > 0, true);
  assert.equal(await page.getByRole('link', { name: 'Page views', exact: true }).count(), 0);
  await page.goto(`${guarded.url}/views?page=/cart`);
  await page.getByText('needs its own permission').waitFor();
  await page.getByText('the scope views is missing').waitFor();
  await tab.close();
  await guarded.end();
});

test('missing page views are reported', async () => {
  const tab = await Tab.open(shop.url, 'views?page=/nowhere', {}, /status of 404/);
  const { page } = tab;
  await page.getByText('No page view with JavaScript was profiled in this time range.').waitFor();
  await page.goto(`${shop.url}/view?page=/cart&id=${'0'.repeat(32)}`);
  await page.getByText('A page view whose traces have expired is gone').waitFor();
  await page.getByRole('link', { name: 'Show the page views that exist' }).click();
  await page.waitForURL(/views\?page=\/cart/);
  await tab.close();
});
