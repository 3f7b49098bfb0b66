// An empty installation, and a site that is not set up yet: the dashboard lists what is missing.

import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { missing } from '../src/pages/first/missing.ts';
import { headers, scripts } from '../src/pages/first/snippets.ts';
import { axeFindsNothing, isNotWide } from './accessible.ts';
import { Daemon, endAll, launch, Tab } from './daemon.ts';

const servers: Server[] = [];

after(async () => {
  for (const server of servers) server.close();
  await endAll();
});

/** Serves a page with the snippet from the dashboard; returns its origin. */
async function site(html: () => string, withHeader: boolean): Promise<string> {
  const server = createServer((_, response) => {
    const [name = '', value = ''] = headers[0]!.text.split(': ');
    if (withHeader) response.setHeader(name, value);
    response.setHeader('Content-Type', 'text/html').end(`<!doctype html><title>shop</title>${html()}<h1>shop</h1>`);
  });
  servers.push(server);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/**
 * Opens a page, and stops the SDK, which then sends its data. A page that is closed immediately may
 * not send any.
 */
async function visit(origin: string): Promise<void> {
  const page = await (await launch()).newPage();
  const rest = page.waitForResponse(/\/rest\.mjs/);
  const sent = page.waitForRequest(/\/[tv]\//);
  await page.goto(origin);
  await rest;
  await page.waitForLoadState('networkidle');
  await page.evaluate('fieldtrie.stop()');
  await sent;
}

/** The displayed snippet. */
const shown = (tab: Tab) => tab.page.locator('.snippets', { hasText: 'Script tag' }).locator('pre').innerText();

test('the snippet works unchanged; a page without the header is reported; a page view with it arrives', async () => {
  const daemon = await Daemon.start();
  const tab = await Tab.open(daemon.url, '', {}, /status of 404/); // for budgets, on the page that is shown afterwards
  await tab.page.getByText('no browser has loaded the script').waitFor();
  assert.equal(await tab.page.locator('.snippets pre').first().innerText(), headers[0]!.text);
  const snippet = await shown(tab);
  assert.match(snippet, new RegExp(`url: '${daemon.collector}'`));
  await axeFindsNothing(tab.page);
  await isNotWide(tab.page);

  await visit(await site(() => snippet, false));
  await tab.page.getByText('1 page view reported, none profiled: the header Document-Policy is missing.').waitFor();
  await visit(await site(() => snippet, true));
  await tab.page.getByRole('link', { name: '/', exact: true }).waitFor();
  await tab.close();
});

test('an origin that is not allowed is named with the flag to add', async () => {
  const daemon = await Daemon.start(
    '--allow-origin',
    'https://www.example.com',
    '--public-url',
    'https://profiles.example.com',
  );
  const tab = await Tab.open(daemon.url, '');
  assert.match(await shown(tab), /url: 'https:\/\/profiles\.example\.com'/);
  const shop = await site(() => scripts({ url: daemon.collector })[0]!.text, true);
  await visit(shop);
  await tab.page.getByText(`blocked by CORS: the origin ${shop} is not allowed.`).waitFor();
  await tab.page.getByText(`--allow-origin ${shop}`, { exact: true }).waitFor();
  await tab.close();
});

test('each reason for missing traces is listed, the most recent first', () => {
  const empty = { url: 'https://p.example', configured: true };
  assert.deepEqual(missing(empty), []); // absent for users with access to only some pages
  const told = { ...empty, scripts: { count: 0 }, traces: 0, unprofiled: [], refused: [] };
  const seen = (more: object) => missing({ ...told, ...more }).map(({ seen }) => seen);
  assert.match(seen({})[0]!, /no browser has loaded the script/);
  assert.match(seen({ scripts: { count: 3 } })[0]!, /loaded 3 times, but no page view has been reported/);
  assert.deepEqual(seen({ traces: 1, scripts: { count: 3 } }), []);
  const at = (second: number) => `2026-11-03T12:00:0${second}Z`;
  const all = seen({
    unprofiled: [
      { outcome: 'header', views: 12, last: at(1) },
      { outcome: 'unsupported', views: 1, last: at(3) },
      { outcome: 'unsampled', views: 100, last: at(2) },
    ],
    refused: [
      {
        reason: 'origin',
        origin: 'https://shop.example',
        error: 'allow it with --allow-origin https://shop.example',
        requests: 2,
        last: at(5),
      },
      { reason: 'key', error: 'parameter key: it is missing', requests: 1, last: at(4) },
    ],
  });
  assert.deepEqual(all, [
    '2 requests were refused, blocked by CORS: the origin https://shop.example is not allowed.',
    '1 request was refused: no key, or an unknown one.',
    '1 page view reported, none profiled: the browser has no JavaScript profiler, like Firefox and Safari.',
    '100 page views reported, not selected by the sampleRate of fieldtrie.start.',
    '12 page views reported, none profiled: the header Document-Policy is missing.',
  ]);
});
