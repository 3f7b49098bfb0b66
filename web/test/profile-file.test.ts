// The HTML file of aggregate -f html, opened without a server.

import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { expressionFor } from '../src/profile-file/expression.ts';
import { time } from '../src/tree/format.ts';
import { searchOf } from '../src/tree/search.ts';
import { axeFindsNothing, isNotWide } from './accessible.ts';
import { aggregate, endAll, launch, root, served } from './daemon.ts';
import { isValid } from './valid.ts';

const recording = join(root, 'testdata/recordings/node-main.cpuprofile.gz');

/** Names that would break a page that does not escape them. */
const hostile = [
  '</script><img src=x onerror=alert(1)>',
  '<!--<script>',
  '\u202egnp.\u2066txt',
  'nul\0and\x1b[31mred',
  'line\u2028separator',
  'a+b(c)[d]{1}|^$.*?\\/',
  'x'.repeat(10_000),
];

let folder = '';

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fieldtrie-file-'));
});

after(async () => {
  await endAll();
  await rm(folder, { recursive: true });
});

/** Runs aggregate for some files, and returns the name of its output. */
async function written(name: string, ...args: string[]): Promise<string> {
  const file = join(folder, name);
  await aggregate('-f', 'html', '-o', file, ...args);
  return file;
}

/** A trace in which main calls functions with hostile names: 100 ms each, the sampling interval. */
async function hostileTrace(): Promise<string> {
  const frames = ['main', ...hostile].map((name, i) => ({ name, resourceId: 0, line: i + 1, column: 1 }));
  const stacks = frames.map((_, i) => (i == 0 ? { frameId: 0 } : { frameId: i, parentId: 0 }));
  const samples = frames.map((_, i) => ({ timestamp: 100 * i, stackId: i }));
  const trace = {
    resources: ['https://x.example/<b>app</b>.js'],
    frames,
    stacks,
    samples: [...samples, { timestamp: 100 * frames.length }],
  };
  const file = join(folder, 'hostile <b>&amp;.json');
  await writeFile(file, JSON.stringify({ page: '/</title><script>alert(1)</script>', interval: 100, trace }));
  return file;
}

test('the file is valid', async () => {
  await isValid('recording.html', await readFile(await written('recording.html', recording), 'utf8'));
  await isValid('hostile.html', await readFile(await written('hostile.html', await hostileTrace()), 'utf8'));
});

/** An opened file, with all of its errors. */
interface Opened {
  page: Page;
  close(): Promise<void>;
}

async function open(file: string, options: BrowserContextOptions = {}): Promise<Opened> {
  const context = await (
    await launch()
  ).newContext({ viewport: { width: 1280, height: 900 }, locale: 'en-GB', timezoneId: 'UTC', ...options });
  const page = await context.newPage();
  const problems: string[] = [];
  const requests: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => problems.push(`${message.type()}: ${message.text()}`));
  page.on('dialog', (dialog) => (problems.push(`dialog: ${dialog.message()}`), void dialog.dismiss()));
  page.on('request', (request) => requests.push(request.url()));
  const url = pathToFileURL(file).href;
  await page.goto(url);
  await page.getByRole('heading', { name: 'Functions' }).waitFor();
  const close = async () => {
    await context.close();
    assert.deepEqual(problems, []);
    assert.deepEqual(
      requests.filter((one) => one != 'data:,'),
      [url],
    );
  };
  return { page, close };
}

/** The rows of the table, by the name and location of the function. */
async function rowsOf(page: Page): Promise<Map<string, string[]>> {
  const rows = await page
    .locator('.table tbody tr:not(.space)')
    .evaluateAll((all) => all.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent!)));
  return new Map(rows.map(([name = '', place = '', ...numbers]) => [`${name} ${place}`, numbers]));
}

test('the document around a profile is small, and the policy covers all of it', async () => {
  const template = join(root, 'web/dist/profile-file.html');
  const { size } = await stat(template);
  assert.ok(size <= 120_000, `${size} bytes`);
  const text = await readFile(template, 'utf8');
  const [policy = ''] = /default-src[^"]*/.exec(text) ?? [];
  assert.match(policy, /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; /);
  assert.doesNotMatch(policy, /unsafe/);
  assert.match(text, /preact \d[\s\S]*MIT/);
  assert.equal(text.match(/<script/g)?.length, 2); // one of them is data
});

test('numbers equal those of aggregate', async () => {
  const response = JSON.parse(await aggregate('-f', 'json', recording));
  const { page, close } = await open(await written('recording.html', recording));
  assert.equal(await page.title(), 'node-main.cpuprofile.gz · Fieldtrie');
  type Row = { name: string; self_us: number; total_us: number };
  const sum = (rows: Row[]) => rows.reduce((all, { self_us }) => all + self_us, 0);
  const total = sum(response.functions);
  const script = total - sum((response.functions as Row[]).filter(({ name }) => ['(gc)', '(program)'].includes(name)));
  assert.ok(script < total);
  assert.equal(await page.locator('.facts strong').innerText(), time(script / 1000));
  assert.match(await page.locator('.flame-details').innerText(), new RegExp(`total\\s+${time(total / 1000)}`));
  const rows = [...(await rowsOf(page)).values()];
  const wanted = (response.functions as Row[])
    .toSorted((a, b) => b.self_us - a.self_us || b.total_us - a.total_us)
    .slice(0, 20);
  assert.deepEqual(
    rows.slice(0, 20).map(([self, all]) => [self, all]),
    wanted.map((row) => [time(row.self_us / 1000), time(row.total_us / 1000)]),
  );
  const count = await page.locator('#functions + .beside span').innerText();
  assert.equal(count, String(response.functions.length));
  await close();
});

test('a trace starts with the main thread, and the others can be chosen', async () => {
  const trace = join(root, 'testdata/recordings/chromium.trace.json.gz');
  const { page, close } = await open(await written('trace.html', trace));
  const listed = JSON.parse(await aggregate('--list', 'threads', '-f', 'json', trace)) as Record<
    string,
    number | string | boolean
  >[];
  const [main] = listed.filter((entry) => entry.main);
  const choice = page.getByLabel(/^Thread \(\d+ in all\)$/);
  const chosen = () => choice.evaluate((select: HTMLSelectElement) => select.selectedOptions[0]!.textContent);
  assert.equal(
    await chosen(),
    `CrRendererMain ${main!.process}/${main!.thread}: ${time(Number(main!.javascript_us) / 1000)} of JavaScript`,
  );
  assert.equal(await page.locator('.facts strong').innerText(), time(Number(main!.javascript_us) / 1000));
  assert.doesNotMatch(await page.locator('body').innerText(), /page view/);
  const names = await choice.locator('option').allInnerTexts();
  assert.equal(names.length, new Set(listed.map(({ process, thread }) => `${process}/${thread}`)).size);
  assert.match((await choice.locator('optgroup').first().getAttribute('label'))!, /^Renderer \d+$/);
  const other = listed.find(({ samples, events }) => !samples && Number(events) > 0)!;
  await choice.selectOption({ label: names.find((name) => name.includes(`${other.process}/${other.thread}:`))! });
  assert.equal(await page.locator('.facts strong').innerText(), time(Number(other.us) / 1000));
  assert.match(
    await page.locator('.flame-details').first().innerText(),
    new RegExp(`total\\s+${time(Number(other.us) / 1000)}`),
  );
  await choice.selectOption({ index: 0 });
  assert.equal(await page.locator('.facts strong').innerText(), time(Number(main!.javascript_us) / 1000));
  await close();
});

test('aggregate --http has the same choice, which the URL keeps and all tabs follow', async () => {
  const { url, end } = await served(join(root, 'testdata/recordings/chromium.trace.json.gz'));
  const page = await (await launch()).newPage();
  try {
    await page.goto(url);
    const choice = page.getByLabel(/^Thread \(\d+ in all\)$/);
    const chosen = () => choice.evaluate((select: HTMLSelectElement) => select.selectedOptions[0]!.textContent!);
    assert.match(await chosen(), /^CrRendererMain \d+\/\d+: [\d.]+ ms of JavaScript$/);
    const other = (await choice.locator('option').allInnerTexts()).find((name) => name.startsWith('Compositor '))!;
    await choice.selectOption({ label: other });
    const [, time = ''] = /: (.*) of work$/.exec(other)!;
    await page
      .locator('.flame-details')
      .filter({ hasText: new RegExp(`total\\s*${time}`) })
      .waitFor();
    await page.reload();
    assert.equal(await page.locator('.facts strong').innerText(), time);
    assert.equal(await chosen(), other);
    await page
      .getByRole('tab', { name: 'Timeline' })
      .or(page.getByRole('link', { name: 'Timeline' }))
      .click();
    await page.getByText('Times are relative to the first call in the file.').waitFor();
    assert.equal(await page.getByRole('combobox', { name: 'Thread', exact: true }).count(), 0); // there is one choice
    assert.match(await page.locator('.flame-details').first().innerText(), new RegExp(`duration\\s*${time}`));
    assert.doesNotMatch(await page.locator('body').innerText(), /page view/);
  } finally {
    await page.close();
    end();
  }
});

test('several recordings have a labelled sum, and each can be chosen', async () => {
  const recordings = ['main', 'worker'].map((name) => join(root, `testdata/recordings/node-${name}.cpuprofile.gz`));
  const scripts = await Promise.all(
    recordings.map(async (name) => {
      const [entry] = JSON.parse(await aggregate('--list', 'threads', '-f', 'json', name)) as {
        javascript_us: number;
      }[];
      return entry!.javascript_us / 1000;
    }),
  );
  const { page, close } = await open(await written('sum.html', ...recordings));
  const choice = page.getByLabel('Thread (2 in all)');
  assert.equal(await choice.locator('option').first().innerText(), 'Sum of 2 recordings, one thread each');
  assert.equal(await page.locator('.facts strong').innerText(), time(scripts[0]! + scripts[1]!));
  await choice.selectOption({ index: 2 });
  assert.equal(await page.locator('.facts strong').innerText(), time(scripts[1]!));
  await close();
});

test('a click finds a function with its callers and callees, and the keyboard can do everything', async () => {
  const { page, close } = await open(await written('keys.html', recording));
  const button = page.locator('.table tbody button').first();
  const name = await button.innerText();
  await button.focus();
  await page.keyboard.press('Enter');
  const region = page.getByRole('region', { name: 'Callers and callees' });
  await region.getByRole('heading', { name }).waitFor();
  assert.match(await page.locator('output').first().innerText(), /^\d+ match(es)?, [\d.]+ m?s, [\d.]+ %$/);
  await region.getByRole('button', { name: 'Close' }).click();
  assert.equal(await region.count(), 0);
  const graph = page.locator('canvas').first();
  await graph.focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('c');
  await region.waitFor();
  await page.getByRole('searchbox', { name: 'Filter' }).fill('no such function');
  await page.getByText('Nothing with “no such function”').waitFor();
  await page.getByRole('searchbox', { name: 'Filter' }).fill('');
  await page.getByRole('button', { name: 'function', exact: true }).click();
  const names = await page.locator('.table tbody button').allInnerTexts();
  assert.deepEqual(
    names,
    names.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true })),
  );
  await page.getByRole('button', { name: /^Theme/ }).click();
  await page.waitForFunction(() => document.documentElement.dataset.theme == 'light');
  await close();
});

test('a difference shows the changes', async () => {
  const [before, now] = [join(folder, 'before.folded'), join(folder, 'now.folded')];
  await writeFile(before, 'main 10000\nmain;draw 50000\nmain;gone 7000\n');
  await writeFile(now, 'main 10000\nmain;draw 80000\nmain;fresh 2000\n');
  const { page, close } = await open(await written('difference.html', '--diff', before, now));
  assert.match(await page.locator('.facts').innerText(), /92 ms ▲ \+25 ms[\s\S]*Compared with\s+before\.folded/);
  const rows = await rowsOf(page);
  assert.deepEqual([...rows.keys()], ['draw ', 'gone ', 'fresh ', 'main ']);
  assert.deepEqual(rows.get('draw '), ['80 ms', '80 ms', '87 %', '▲ +30 ms', '▲ +30 ms']);
  assert.deepEqual(rows.get('gone '), ['0 ms', '0 ms', '0 %', '▼ −7 ms', '▼ −7 ms']);
  await page.getByText('1 function is gone: ▼ −7 ms').waitFor();
  await close();
});

test('any name is shown as text and can be found', async () => {
  const { page, close } = await open(await written('hostile.html', await hostileTrace()));
  assert.equal(await page.locator('img').count(), 0);
  const names = await page.locator('.table tbody button').allInnerTexts();
  assert.equal(names.length, hostile.length + 1);
  assert.ok(names.includes('</script><img src=x onerror=alert(1)>'));
  assert.ok(names.includes('nul\ufffdand\ufffd[31mred'));
  assert.ok(names.every((name) => name.length <= 120));
  const title = await page.locator('.table tbody button', { hasText: 'xxxx' }).getAttribute('title');
  assert.ok(title!.startsWith('x'.repeat(10_000)));
  const box = page.locator('.flame').first().getByRole('searchbox');
  for (const i of names.keys()) {
    await page.locator('.table tbody button').nth(i).click();
    const found = await page.locator('.flame output').first().innerText();
    assert.match(found, /^1 match, /, `${await box.inputValue()}`);
  }
  await close();
});

test('the expression of each name matches only this name', () => {
  for (const name of hostile) {
    const { matches, problem } = searchOf(expressionFor({ name, resource: '', line: 0, column: 0 }));
    assert.equal(problem, undefined);
    for (const other of hostile)
      assert.equal(matches({ name: other, resource: '', line: 0, column: 0 }), other == name);
  }
  assert.equal(expressionFor({ name: '', resource: 'a.js', line: 1, column: 1 }), '/^a\\.js$/');
});

for (const [colorScheme, width] of [
  ['light', 1280],
  ['dark', 1280],
  ['light', 360],
  ['dark', 360],
] as const) {
  test(`${colorScheme}, ${width} wide: axe finds no violations, and it is not wider than the window`, async () => {
    const before = await hostileTrace();
    const file = await written(`${colorScheme}${width}.html`, '--diff', before, recording, before);
    const { page, close } = await open(file, { colorScheme, viewport: { width, height: 800 }, bypassCSP: true });
    await page.locator('.table tbody button').first().click();
    await axeFindsNothing(page);
    await isNotWide(page);
    await close();
    const trace = join(root, 'testdata/recordings/chromium.trace.json.gz');
    const threads = await open(await written(`threads${colorScheme}${width}.html`, trace), {
      colorScheme,
      viewport: { width, height: 800 },
      bypassCSP: true,
    });
    await axeFindsNothing(threads.page);
    await isNotWide(threads.page);
    await threads.close();
  });
}
