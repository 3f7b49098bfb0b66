import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { axeFindsNothing } from './accessible.ts';
import { endAll, launch } from './daemon.ts';

let browser: Browser;
let files: Map<string, string>;
const problems: string[] = [];

before(async () => {
  const { outputFiles } = await build({
    entryPoints: ['test/flame-page.tsx'],
    bundle: true,
    write: false,
    outdir: '/',
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
  });
  files = new Map(outputFiles.map(({ path, text }) => [path.replace(/.*\./, ''), text]));
  browser = await launch();
});

after(async () => {
  await endAll();
  assert.deepEqual(problems, []);
});

/** Global functions of the test's page. */
interface Fixture {
  show(response: unknown, props?: unknown): Promise<void>;
  told: string[];
  responseOf(stacks: Record<string, number | [number, number]>, views?: number, baseViews?: number): unknown;
  randomResponse(nodes: number, seed: number, options?: unknown): unknown;
}

declare const fixture: Fixture; // in the page

async function open(options: Parameters<Browser['newPage']>[0] = {}): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1000, height: 800 }, ...options });
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => message.type() == 'error' && problems.push(message.text()));
  await page.setContent(
    '<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>flame</title>' +
      '<body><main></main></body></html>',
  );
  await page.addStyleTag({
    content: `:root { color-scheme: light dark; background: Canvas; color: CanvasText } ${files.get('css')}`,
  });
  await page.addScriptTag({ content: files.get('js')!, type: 'module' });
  await page.waitForFunction(() => 'fixture' in globalThis);
  return page;
}

/** Stacks of 100 ms per page view: a calls b and d, b calls c, which calls itself. */
const stacks = { 'a b c': 20_000, 'a b c c': 20_000, 'a b': 10_000, 'a d': 40_000, a: 5_000, e: 5_000 };

async function openStacks(props: object = {}, options?: Parameters<Browser['newPage']>[0]): Promise<Page> {
  const page = await open(options);
  await page.evaluate(([given, rest]) => fixture.show(fixture.responseOf(given as never), rest), [
    stacks,
    props,
  ] as const);
  return page;
}

const details = async (page: Page) => (await page.locator('.flame-details').innerText()).replace(/\s+/g, ' ');
const spoken = (page: Page) => page.locator('.flame [role=status]').innerText();
const told = (page: Page) => page.evaluate(() => fixture.told);
const canvas = (page: Page) => page.locator('canvas');

/** Presses keys at the focused element. */
async function press(page: Page, ...keys: string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key);
}

/** Returns a position in the picture: a share of its width, in a row. */
async function at(page: Page, share: number, row: number): Promise<{ x: number; y: number }> {
  const { width } = (await canvas(page).boundingBox())!;
  return { x: share * width, y: row * 20 + 10 };
}

test('a tree of 20,000 nodes can be drawn, clicked, searched and walked through', async () => {
  const page = await open();
  await page.evaluate(() => fixture.show(fixture.randomResponse(20_000, 1)));
  const colours = await page.evaluate(() => {
    const { width, height } = document.querySelector('canvas')!;
    const { data } = document.querySelector('canvas')!.getContext('2d')!.getImageData(0, 0, width, height);
    return new Set(new Uint32Array(data.buffer)).size;
  });
  assert.ok(colours > 20, `${colours} colours`);
  assert.match(await details(page), /^all total [\d.]+ ms self 0 ms of all 100 %/);
  await canvas(page).click({ position: await at(page, 0.3, 3) });
  assert.match(await details(page), /of zoomed 100 %/);
  await page.getByRole('searchbox').fill('row');
  assert.match(await page.locator('output').innerText(), /^\d+ matches, [\d.]+ ms, [\d.]+ %$/);
  await canvas(page).focus();
  await press(page, 'Escape', 'ArrowDown', 'n', 'n');
  assert.match(await spoken(page), /row.*: total .* of all, self /i);
  await page.close();
});

test('details show the pointed call immediately', async () => {
  const page = await openStacks();
  await canvas(page).hover({ position: await at(page, 0.1, 2) });
  assert.match(await details(page), /^b src\/b\.ts:2:7 total 50 ms self 10 ms of all 50 % Actions all$/);
  await canvas(page).hover({ position: await at(page, 0.97, 1) });
  assert.match(await details(page), /^e .* total 5 ms self 5 ms of all 5 %/);
  await page.mouse.move(5, 5);
  assert.match(await details(page), /^all total 100 ms/);
  await page.close();
});

test('a zoomed node has the height that it needs, and none of its parts is larger', async () => {
  const page = await openStacks();
  const height = async () => (await canvas(page).boundingBox())!.height;
  const all = await height();
  await canvas(page).click({ position: await at(page, 0.97, 1) });
  await page.waitForFunction((before) => document.querySelector('canvas')!.clientHeight < before, all);
  assert.match(await details(page), /^e .* of zoomed 100 %/);
  await canvas(page).hover({ position: await at(page, 0.5, 0) });
  for (const [, part] of (await details(page)).matchAll(/([\d.]+) % of zoomed|of zoomed ([\d.]+) %/g))
    assert.ok(Number(part) <= 100);
  await press(page, 'Escape');
  await page.waitForFunction((before) => document.querySelector('canvas')!.clientHeight == before, all);
  await page.close();
});

test('clicks zoom, and there is a way back', async () => {
  const page = await openStacks();
  await canvas(page).click({ position: await at(page, 0.1, 1) });
  await page.waitForTimeout(500); // otherwise it would be a double click
  await canvas(page).click({ position: await at(page, 0.1, 3) });
  assert.match(await details(page), /^c .* total 40 ms self 20 ms of all 40 % of zoomed 100 % .* all a b c$/);
  await page.mouse.move(5, 5);
  await press(page, 'Escape');
  assert.match(await details(page), /^a .* of zoomed 100 %/);
  await press(page, 'Backspace');
  assert.match(await details(page), /^all /);
  await canvas(page).click({ position: await at(page, 0.1, 3) });
  await page.getByRole('button', { name: 'b', exact: true }).click();
  assert.match(await details(page), /^b .* of zoomed 100 %/);
  const keys = (await told(page)).filter((each) => each.startsWith('zoom')).map((each) => each.slice(5));
  assert.deepEqual(
    keys.map((key) => key.length),
    [16, 16, 16, 0, 16, 16],
  );
  assert.equal(keys[2], keys[0]);
  await page.close();
});

test('everything can be done with the keyboard', async () => {
  const page = await openStacks();
  await canvas(page).focus();
  await press(page, 'ArrowDown');
  assert.equal(await spoken(page), 'a: total 95 ms, 95 % of all, self 5 ms');
  await press(page, 'ArrowRight');
  assert.match(await spoken(page), /^e: /);
  await press(page, 'ArrowLeft', 'ArrowDown');
  assert.match(await spoken(page), /^b: /);
  await press(page, 'ArrowRight', 'ArrowUp', 'ArrowDown');
  assert.match(await spoken(page), /^b: /);
  await press(page, 'Enter');
  assert.match(await details(page), /^b .* of zoomed 100 %/);
  await press(page, 'w', 'd', 'a', 's', 'Home');
  await press(page, '/');
  await page.keyboard.type('/^[cd]$/');
  assert.equal(await page.locator('output').innerText(), '2 matches, 80 ms, 80 %');
  await press(page, 'Enter');
  assert.match(await spoken(page), /^c: total 40 ms/);
  await press(page, 'Enter', 'Enter');
  assert.match(await spoken(page), /^d: /);
  await page.getByRole('searchbox').fill('/(/');
  assert.match(await page.locator('output').innerText(), /group/);
  await press(page, 'Escape', 'Escape');
  assert.ok(await canvas(page).evaluate((element) => element == document.activeElement));
  await press(page, 'c');
  assert.deepEqual((await told(page)).at(-1), 'sandwich d');
  await press(page, '?');
  const keys = page.getByRole('dialog', { name: 'Keyboard shortcuts of the flame graph' });
  await keys.waitFor();
  await press(page, 'Escape');
  await keys.waitFor({ state: 'detached' });
  assert.ok(await canvas(page).evaluate((element) => element == document.activeElement));
  await page.close();
});

test('the menu of a call hides, focuses and merges', async () => {
  const page = await openStacks();
  await canvas(page).click({ position: await at(page, 0.1, 2), button: 'right' });
  await page.getByRole('menuitem', { name: 'Hide this function' }).click();
  assert.match(await page.locator('.flame-chips').innerText(), /without\s+b/);
  await canvas(page).focus();
  await press(page, 'ArrowDown', 'ArrowDown');
  assert.match(await spoken(page), /^(c|d): total 40 ms/);
  await press(page, 'm');
  assert.equal(await page.evaluate(() => document.activeElement!.textContent), 'ZoomEnter');
  await press(page, 'Escape');
  assert.equal(await page.getByRole('menu').count(), 0);
  await page.getByRole('button', { name: /^Undo/ }).click();
  await canvas(page).click({ position: await at(page, 0.1, 3), button: 'right' });
  await page.getByRole('menuitem', { name: 'Merge recursion' }).click();
  await canvas(page).hover({ position: await at(page, 0.1, 3) });
  assert.match(await details(page), /^c .* total 40 ms self 40 ms/);
  await canvas(page).click({ position: await at(page, 0.1, 3), button: 'right' });
  await page.getByRole('menuitem', { name: 'Focus on this function' }).click();
  await page.mouse.move(5, 5);
  await canvas(page).focus();
  await press(page, 'Home', 'ArrowUp', 'ArrowUp', 'ArrowUp', 'ArrowUp');
  assert.match(await details(page), /^all total 40 ms/);
  await page.close();
});

test('double clicks show callers and callees, and undo the zoom', async () => {
  const page = await openStacks();
  await canvas(page).dblclick({ position: await at(page, 0.1, 2) });
  assert.deepEqual((await told(page)).at(-1), 'sandwich b');
  assert.match(await details(page), / all$/);
  await canvas(page).click({ position: await at(page, 0.1, 3), modifiers: ['Shift'] });
  assert.deepEqual((await told(page)).at(-1), 'sandwich c');
  await page.close();
});

test('(other) is loaded with a query', async () => {
  const page = await open();
  await page.evaluate(() => fixture.show(fixture.responseOf({ 'a b': 1000, 'a (other)': 3000 })));
  await canvas(page).click({ position: await at(page, 0.9, 2) });
  const [last] = (await told(page)).slice(-1);
  assert.match(last!, /^open [0-9a-f]{16}$/);
  await page.getByRole('button', { name: 'Rows' }).click();
  await page.getByRole('row', { name: /\(other\)/ }).click();
  assert.deepEqual((await told(page)).slice(-2), [last, last]);
  await page.close();
});

test('a comparison has signs, changes and removed functions', async () => {
  const page = await open();
  await page.evaluate(() =>
    fixture.show(fixture.responseOf({ 'a b': [30_000, 10_000], 'a c': [10_000, 14_000], gone: [0, 8_000] }, 1, 2)),
  );
  await canvas(page).hover({ position: await at(page, 0.1, 2) });
  assert.match(await details(page), /^b .* total 30 ms self 30 ms of all 75 % before 5 ms change ▲ \+25 ms/);
  await canvas(page).hover({ position: await at(page, 0.95, 2) });
  assert.match(await details(page), /^c .* before 7 ms change ▲ \+3 ms/);
  await page.getByText('1 function is gone').click();
  assert.match(await page.locator('.flame-removed').innerText(), /gone[^]*−4 ms/);
  await page.getByLabel('Width').selectOption('before');
  await canvas(page).hover({ position: await at(page, 0.9, 1) });
  assert.match(await details(page), /^gone .* total 0 ms .* change ▼ −4 ms/);
  await page.close();
});

test('rows are a treegrid with the same selection', async () => {
  const page = await openStacks({ view: 'both' });
  const grid = page.getByRole('treegrid');
  await grid.focus();
  await press(page, 'ArrowDown');
  assert.match(await spoken(page), /^a: /);
  await press(page, 'ArrowRight');
  assert.match(await spoken(page), /^b: /);
  const row = grid.locator('[aria-selected=true]');
  assert.deepEqual(
    await row.evaluate((element) =>
      ['aria-level', 'aria-expanded', 'aria-rowindex'].map((name) => element.getAttribute(name)),
    ),
    ['2', 'true', '3'],
  );
  assert.match((await row.innerText()).replace(/\s+/g, ' '), /b src\/b.ts:2:7 50 ms 10 ms 50 %/);
  await press(page, 'ArrowLeft');
  await grid.locator('[aria-selected=true][aria-expanded=false]').waitFor(); // drawn later on a busy machine
  assert.equal(await row.getAttribute('aria-expanded'), 'false');
  await press(page, 'ArrowLeft');
  assert.match(await spoken(page), /^a: /);
  await press(page, 'End', 'Enter');
  assert.match(await details(page), /^e .* of zoomed 100 %/);
  await page.close();
});

test('rows of a large tree are few elements', async () => {
  const page = await open();
  await page.evaluate(() => fixture.show(fixture.randomResponse(20_000, 1), { view: 'rows' }));
  const grid = page.getByRole('treegrid');
  await grid.focus();
  await press(page, 'End');
  assert.ok((await grid.getByRole('row').count()) < 80);
  await page.waitForFunction(() => {
    const grid = document.querySelector('[role=treegrid]')!;
    return document.getElementById(grid.getAttribute('aria-activedescendant') ?? '') != null;
  });
  await page.close();
});

test('with touch, the first tap selects and the second one zooms', async () => {
  const page = await openStacks({}, { hasTouch: true, viewport: { width: 360, height: 740 } });
  const tap = async () => canvas(page).tap({ position: await at(page, 0.1, 2) });
  await tap();
  assert.match(await details(page), /^b /);
  assert.doesNotMatch(await details(page), /zoomed/);
  await page.waitForTimeout(500);
  await tap();
  assert.match(await details(page), /^b .* of zoomed 100 %/);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  await page.close();
});

test('hostile names are shown as text', async () => {
  const page = await open();
  const name = `</script><img src=x onerror=alert(1)>\u0000\u001b[31m\u202e${'x'.repeat(10_000)}`;
  await page.evaluate(
    (hostile) =>
      fixture.show(fixture.responseOf({ [`a\u00a0b ${hostile.replaceAll(' ', '\u00a0')}`]: 5000 }), { view: 'both' }),
    name,
  );
  await canvas(page).hover({ position: await at(page, 0.5, 2) });
  const text = await page.locator('.flame-call').innerText();
  assert.ok(text.includes('</script><img'));
  assert.ok(!text.includes('\u202e') && text.length < 400);
  assert.equal(await page.locator('img').count(), 0);
  await page.close();
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`axe finds nothing in the ${colorScheme}`, async () => {
    const page = await open({ colorScheme });
    await page.evaluate(() =>
      fixture.show(fixture.randomResponse(2000, 1, { base: true }), { view: 'both', search: 'row' }),
    );
    await canvas(page).click({ position: await at(page, 0.3, 4) });
    await canvas(page).click({ position: await at(page, 0.3, 3), button: 'right' });
    const check = () => axeFindsNothing(page, { 'page-has-heading-one': { enabled: false } });
    await check();
    await press(page, 'Escape', '?');
    await check();
    await page.close();
  });
}
