// The dashboard with a real daemon, real traces and a real browser.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { aggregate, Daemon, endAll, Tab } from './daemon.ts';
import { sendShop, traceOf } from './shop.ts';

let shop: Daemon;

before(async () => {
  shop = await Daemon.start();
  await sendShop(shop);
});

after(endAll);

/** The browser's error for a budgets endpoint without budgets, which is expected. */
const noBudgets = /status of 404/;

/** The mean time of a page in ms, as printed by aggregate. */
async function meanOf(page: string): Promise<number> {
  const report = JSON.parse(await aggregate('--addr', shop.address, '--page', page, '--stats', '--format', 'json'));
  return report.pages[0].time.mean.value;
}

test('the overview has the numbers of aggregate', async () => {
  const tab = await Tab.open(shop.url, '', {}, noBudgets);
  const { page } = tab;
  await page.getByText('Heaviest pages').waitFor();
  const rows = page.getByRole('row');
  for (const path of ['/cart', '/list']) {
    const row = await rows.filter({ has: page.getByRole('link', { name: path, exact: true }) }).innerText();
    const mean = await meanOf(path);
    assert.ok(row.includes('220'), `${path} has 220 page views: ${row}`);
    assert.ok(row.includes(mean.toFixed(mean < 100 ? 1 : 0)), `${path} has ${mean} ms: ${row}`);
  }
  await page.getByText('Release r2 against r1').waitFor();
  await page.getByText('r1 and r2 began at the same time; the order is by version number').waitFor();
  const colours = await page.locator('.since').evaluate((since) => {
    const of = (element: Element) => getComputedStyle(element).color;
    const all = [...since.querySelectorAll('.slower, .faster')];
    return { all: all.length, coloured: all.filter((element) => of(element) != of(since)).length };
  });
  assert.ok(colours.all > 1, 'changes are shown');
  assert.equal(colours.coloured, 0, 'a guess has no colour');
  await tab.close();
});

test('a release with few page views has their number, and no verdict of older releases', async () => {
  const daemon = await Daemon.start();
  const sent = [];
  for (let view = 0; view < 110; view++) sent.push(traceOf(view, '1.0.0', '/', 100), traceOf(view, '1.1.0', '/', 200));
  for (let view = 0; view < 40; view++) sent.push(traceOf(view, '1.2.0', '/', 400));
  await daemon.send(...sent);
  const tab = await Tab.open(daemon.url, '', {}, noBudgets);
  await tab.page.getByText('1.2.0: 40 of 100 page views so far').waitFor();
  assert.equal(await tab.page.getByText(/^Release .* against/).count(), 0);
  await tab.close();
  await daemon.end();
});

test('the URL determines what is shown, and the history is kept', async () => {
  const tab = await Tab.open(shop.url, '?since=7d&unit=share', {}, noBudgets);
  const { page } = tab;
  await page.getByText('Heaviest pages').waitFor();
  assert.equal(await page.getByRole('link', { name: '7d', exact: true }).getAttribute('aria-current'), 'true');
  await page.getByRole('link', { name: '24h', exact: true }).click();
  await page.waitForURL(/since=24h/);
  assert.match(page.url(), /unit=share/);
  await page.goBack();
  await page.waitForURL(/since=7d/);
  await tab.close();
});

test('an empty installation has instructions and notices the first trace', async () => {
  const empty = await Daemon.start();
  const tab = await Tab.open(empty.url, '', {}, noBudgets);
  await tab.page.getByText('No profiles received yet').waitFor();
  await empty.send(traceOf(0, 'r1', '/first', 100));
  await tab.page.getByRole('link', { name: '/first', exact: true }).waitFor({ timeout: 20_000 });
  await tab.close();
  await empty.end();
});

test('a user can log in and out where a login is required', async () => {
  const rules = `users:
  - name: ann
    bcrypt: $2a$05$GbONi0oUbWftKQT89KJuceigWx23977lLpT5O90AAfPltFUF/8L9K
`;
  const guarded = await Daemon.start('--access', `FILE:${rules}`);
  const tab = await Tab.open(guarded.url, '', {}, /status of (404|401)/);
  const { page } = tab;
  await page.getByLabel('User').fill('ann');
  await page.getByLabel('Password').fill('wrong');
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByText('token is wrong').waitFor();
  await page.getByLabel('Password').fill('secret');
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByText('No profiles received yet').waitFor();
  const [cookie] = await tab.context.cookies();
  assert.ok(cookie?.httpOnly && cookie.sameSite == 'Strict', JSON.stringify(cookie));
  // Everything that the page knew from this login is gone.
  await page.evaluate(() => Object.assign(window, { known: true }));
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByLabel('User').waitFor();
  assert.equal(await page.evaluate(() => 'known' in window), false);
  assert.deepEqual(await tab.context.cookies(), []);
  await tab.close();
  await guarded.end();
});

test('a restart of the daemon is reported, and the page recovers', async () => {
  const brief = await Daemon.start();
  await brief.send(traceOf(0, 'r1', '/first', 100));
  const tab = await Tab.open(
    brief.url,
    '',
    {},
    /status of 404|ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET/,
  );
  const { page } = tab;
  await page.getByRole('link', { name: '/first', exact: true }).waitFor();
  await brief.stop();
  await page.getByRole('link', { name: '7d', exact: true }).click();
  await page.getByText('The daemon does not respond').first().waitFor();
  assert.equal(await page.getByText('The daemon does not respond').count(), 1, 'there is one message');
  await brief.start();
  await page.getByRole('button', { name: 'Retry' }).click();
  await page.getByRole('link', { name: '/first', exact: true }).waitFor();
  await tab.close();
  await brief.end();
});
