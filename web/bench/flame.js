// node bench/flame.js [NODES…]
//
// Measures the flame graph in Chromium, with trees made at random: the time of scripts from JSON in memory to the picture, and
// the time from pointers and keys to what they change on the screen (Event Timing, in steps of 8 ms). Prints JSON.

import { build } from 'esbuild';
import { chromium } from 'playwright-core';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const web = join(dirname(fileURLToPath(import.meta.url)), '..');
const sizes = process.argv.slice(2).map(Number);

const { outputFiles } = await build({
  entryPoints: [join(web, 'test/flame-page.tsx')],
  bundle: true,
  minify: true,
  write: false,
  outdir: '/',
  format: 'esm',
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
});
const text = (ending) => outputFiles.find(({ path }) => path.endsWith(ending)).text;

/** A quantile of some numbers. */
function quantile(values, part) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))];
}

/** Opens a page and gives it a tree. */
async function open(browser, nodes) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.setContent('<!doctype html><html lang="en"><title>bench</title><main></main>');
  await page.addStyleTag({ content: text('.css') });
  await page.addScriptTag({ content: text('.js'), type: 'module' });
  await page.waitForFunction(() => globalThis.fixture);
  await page.evaluate((n) => void (globalThis.json = JSON.stringify(fixture.randomAnswer(n, 1))), nodes);
  return page;
}

/** Collects how long events take until they are painted, in ms. */
async function durations(page, type, act) {
  await page.evaluate((types) => {
    globalThis.seen = new Map();
    globalThis.observer?.disconnect();
    globalThis.observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        if (!types.includes(entry.name)) continue;
        const key = entry.interactionId || entry.startTime;
        seen.set(key, Math.max(seen.get(key) ?? 0, entry.duration));
      }
    });
    observer.observe({ type: 'event', durationThreshold: 16 });
  }, type);
  const count = await act();
  await page.waitForTimeout(300);
  const slow = await page.evaluate(() => [...seen.values()]);
  return [...slow, ...new Array(Math.max(0, count - slow.length)).fill(16)]; // what is below the threshold is not told
}

async function measure(browser, nodes) {
  const draws = [];
  let page;
  for (let i = 0; i < 5; i++) {
    await page?.close();
    page = await open(browser, nodes); // so that scripts are as cold as in a page that was just opened
    draws.push(await page.evaluate(() => fixture.show(JSON.parse(json))));
  }
  const box = await page.locator('canvas').boundingBox();
  const x = (part) => box.x + part * box.width;
  const hover = await durations(page, ['pointermove', 'mousemove', 'pointerover', 'mouseover'], async () => {
    for (let i = 0; i < 120; i++) {
      await page.mouse.move(x((i * 0.37) % 1), box.y + 10 + ((i * 47) % (box.height - 20)));
      await page.waitForTimeout(20);
    }
    return 120;
  });
  const zoom = await durations(page, ['click', 'keydown'], async () => {
    for (let i = 0; i < 20; i++) {
      await page.mouse.click(x(0.2 + (i % 7) / 10), box.y + 30 + (i % 9) * 20);
      await page.waitForTimeout(320); // not a double click
      await page.keyboard.press('Escape');
      await page.waitForTimeout(60);
    }
    return 40;
  });
  await page.locator('input[type=search]').focus();
  const search = await durations(page, ['keydown', 'keypress', 'input'], async () => {
    for (const letter of 'sortrow/parse|commit/Cell') {
      await page.keyboard.press(letter);
      await page.waitForTimeout(80);
      if (letter == 'w' || letter == '/') await page.fill('input[type=search]', '');
    }
    return 25;
  });
  await page.close();
  const p95 = (values) => quantile(values, 0.95);
  return {
    nodes,
    draw_script_ms: Math.round(quantile(draws, 0.5)),
    hover_p95_ms: p95(hover),
    zoom_p95_ms: p95(zoom),
    search_p95_ms: p95(search),
  };
}

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
try {
  const results = [];
  for (const nodes of sizes.length ? sizes : [20_000, 50_000]) results.push(await measure(browser, nodes));
  console.log(JSON.stringify(results, null, 2));
} finally {
  await browser.close();
}
